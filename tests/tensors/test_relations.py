"""This file is what a tensor has to do with others: names, memory, graph, range, holders."""

import numpy as np
import pytest
import torch
from torch import nn

from torchmagic.tensors.describe import Asked, describe


def seen(tensor, name="", *, full=False, **names):
    return describe(tensor, name=name, asked=Asked(names=names, full=full))


def test_names_and_shared_memory_are_found():
    model = nn.Linear(3, 2)
    array = np.ones(6, np.float32)
    flat = torch.from_numpy(array)
    rows = flat.view(2, 3)
    found = seen(
        rows, "rows", rows=rows, again=rows, flat=flat, array=array, batch={"x": flat[1:]}, other=torch.ones(2)
    )
    assert found.relations.names == ("again",)
    assert found.relations.shared == ("flat", "array", "batch['x']")
    assert found.relations.base == "flat"
    assert seen(model.weight.detach(), model=model).relations.shared == ("model.weight",)


def test_an_empty_tensor_shares_nothing():
    assert seen(torch.ones(0), a=torch.ones(0)).relations.shared == ()


def test_the_graph_names_modules_by_their_parameters():
    model = nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 1))
    out = model(torch.ones(1, 3)).sum()
    graph = seen(out, model=model).graph
    assert [(node.name, node.hops, node.module) for node in graph[:3]] == [
        ("SumBackward0", 0, ""),
        ("AddmmBackward0", 1, "model.2"),
        ("ReluBackward0", 2, ""),
    ]
    assert graph[1].inputs == ("model.2.bias",)
    assert describe(model[0].weight).graph == ()


def test_a_loop_of_many_operations_ends_after_a_few_hops():
    out = torch.ones(1, requires_grad=True)
    for _ in range(100):
        out = out + out
    assert len(describe(out).graph) <= 8


def test_holders_are_named_on_request():
    class Owner:
        pass

    owner, kept = Owner(), torch.ones(3)
    owner.kept = kept
    model = nn.Linear(2, 2)
    assert "'kept' of a Owner" in seen(kept, full=True).relations.holders
    assert "'weight' of a Linear" in seen(model.weight, full=True).relations.holders
    assert seen(kept).relations.holders == ()


def test_room_is_told_of_the_own_dtype_and_of_float16():
    room = describe(torch.tensor([32752.0], dtype=torch.float16)).headroom
    assert [(each.dtype, each.is_own, each.share) for each in room] == [("float16", True, 0.5)]
    wide = {each.dtype: each.share for each in describe(torch.tensor([131008.0])).headroom}
    assert wide["float16"] == 2.0
    assert describe(torch.tensor([7])).headroom == ()


def test_names_of_dimensions_are_kept_and_counted():
    assert describe(torch.ones(2, 3), asked=Asked(dims=("N", "C"))).dims == ("N", "C")
    with pytest.raises(ValueError, match=r"^1 names of dimensions came, 2 were wanted for \[2, 3\]$"):
        describe(torch.ones(2, 3), asked=Asked(dims=("N",)))


@pytest.mark.parametrize("full", [False, True])
def test_looking_changes_nothing(full):
    weight = torch.randn(40, 40, requires_grad=True)
    weight.grad = torch.ones_like(weight)
    made = (weight * 2).detach()
    before = torch.get_rng_state()
    kept = weight.detach().clone(), weight.grad, weight._version, weight.grad._version, made._version
    for each in (weight, made, weight * 3):
        describe(each, asked=Asked(other=weight, names={"w": weight, "m": made}, full=full, hist=True))
    assert torch.equal(torch.get_rng_state(), before)
    assert weight.grad is kept[1]
    assert (weight._version, weight.grad._version, made._version) == kept[2:]
    assert torch.equal(weight, kept[0])
