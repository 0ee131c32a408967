"""This file is the tree of tensors in one object."""

import collections
import dataclasses
from typing import NamedTuple

import numpy as np
import pytest
import torch

from torchmagic.tensors.tree import describe_tree


class Pair(NamedTuple):
    image: torch.Tensor
    label: torch.Tensor


@dataclasses.dataclass
class Output:
    logits: torch.Tensor
    loss: torch.Tensor | None = None


def ones(*shape):
    return torch.ones(shape, device="cpu")


def paths(value):
    return [leaf.path for leaf in describe_tree(value).leaves]


def test_paths_are_what_one_would_type():
    assert paths({"a": [ones(2), (ones(1),)], 3: np.zeros(2)}) == ["['a'][0]", "['a'][1][0]", "[3]"]
    assert paths(Output(logits=ones(2))) == [".logits"]
    assert paths(Pair(ones(1), ones(2))) == [".image", ".label"]
    assert paths(collections.UserDict(input_ids=ones(2))) == ["['input_ids']"]


def test_totals_count_a_tensor_and_a_block_once():
    block = ones(10)
    tree = describe_tree([block, block, block[:5], block.half()])
    assert (len(tree.leaves), tree.num_tensors, tree.num_elements, tree.num_bytes) == (4, 3, 25, 80)
    assert tree.storage_bytes == 60
    assert tree.bytes_by_dtype == (("float32", 60), ("float16", 20))


def test_leaves_are_measured():
    (leaf,) = describe_tree([torch.tensor([1.0, float("nan"), 3.0], device="cpu")]).leaves
    assert (leaf.min, leaf.max, leaf.mean, leaf.num_nonfinite) == (1.0, 3.0, 2.0, 1)


def test_an_optimizer_tells_its_groups_parameters_and_state():
    weight = torch.nn.Parameter(ones(2))
    optimizer = torch.optim.Adam([weight], lr=0.5)
    weight.sum().backward()
    optimizer.step()
    tree = describe_tree(optimizer, name="optimizer")
    assert tree.kind == "Adam"
    assert "lr 0.5" in dict(tree.facts)["group 0"]
    assert [leaf.path for leaf in tree.leaves] == [
        "group 0, parameter 0",
        "group 0, parameter 0: gradient",
        "group 0, parameter 0: step",
        "group 0, parameter 0: exp_avg",
        "group 0, parameter 0: exp_avg_sq",
    ]


def test_parameters_of_an_optimizer_have_the_names_of_the_model_among_the_variables():
    net, loose = torch.nn.Linear(3, 2), torch.nn.Parameter(ones(2))
    optimizer = torch.optim.SGD([*net.parameters(), loose], momentum=0.9)
    paths = [leaf.path for leaf in describe_tree(optimizer, names={"_": net, "net": net, "n": 3}).leaves]
    assert paths == ["group 0, net.weight", "group 0, net.bias", "group 0, parameter 2"]


def test_an_optimizer_that_knows_its_parameters_names_tells_those():
    optimizer = torch.optim.SGD(torch.nn.Linear(3, 2).named_parameters())
    tree = describe_tree(optimizer)
    assert [leaf.path for leaf in tree.leaves] == ["group 0, weight", "group 0, bias"]
    assert "param_names" not in tree.facts[0][1]


def test_looking_at_an_optimizer_adds_no_state():
    optimizer = torch.optim.Adam([torch.nn.Parameter(ones(2))])
    describe_tree(optimizer)
    assert not optimizer.state


def test_a_gradient_scaler_tells_its_scale():
    facts = dict(describe_tree(torch.amp.GradScaler("cpu", init_scale=8.0)).facts)
    assert (facts["scale"], facts["growth interval"]) == ("8", "2000")
    assert dict(describe_tree(torch.amp.GradScaler("cpu", enabled=False)).facts)["enabled"].startswith("no")


def test_a_circle_ends():
    value = [ones(1)]
    value.append(value)
    assert paths(value) == ["[0]"]


@pytest.mark.parametrize("value", [[], [1, "a"], {"a": None}, 3, "text", torch.nn.Linear(1, 1), Output, object()])
def test_what_holds_no_tensor_is_no_tree(value):
    assert describe_tree(value) is None


def test_many_tensors_are_cut_and_counted():
    tree = describe_tree([ones(1) for _ in range(500)])
    assert (len(tree.leaves), tree.num_tensors) == (400, 500)
    assert tree.notes == ("100 more tensors are not listed; the totals are of all",)


def test_a_sparse_tensor_takes_the_memory_of_its_values_and_indices():
    sparse = torch.eye(3, device="cpu").to_sparse()
    tree = describe_tree([sparse, sparse, torch.ones(2, device="cpu")])
    assert (tree.num_bytes, tree.storage_bytes) == (3 * 4 + 6 * 8 + 8,) * 2
