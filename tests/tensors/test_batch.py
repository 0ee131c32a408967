"""This file tests what is read off a batch, against numpy in float64."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from torchmagic.tensors.batch import (
    bad_rows,
    class_counts,
    fields_in,
    fingerprint,
    has_values,
    layout_of,
    values_of,
)

DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.uint8, torch.bool)


@settings(deadline=None, max_examples=60)
@given(
    dtype=st.sampled_from(DTYPES),
    shape=st.sampled_from([(), (1,), (7,), (4, 3), (2, 3, 5), (2, 3, 4, 4)]),
    flip=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_values_are_those_of_numpy(dtype, shape, flip, seed):
    drawn = torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * 20
    tensor = (drawn.abs() if dtype in (torch.uint8, torch.bool) else drawn).to(dtype)
    tensor = tensor.transpose(0, -1) if flip and tensor.dim() > 1 else tensor
    array = tensor.double().numpy()
    found = values_of(tensor)
    assert (found.low, found.high, found.nonfinite) == (array.min(), array.max(), False)
    assert found.mean == pytest.approx(array.mean(), rel=1e-5, abs=1e-5)
    assert found.std == pytest.approx(array.std(), rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_left_out_and_said(dtype, bad):
    found = values_of(torch.tensor([1.0, bad, 3.0], dtype=dtype))
    assert found == (1.0, 3.0, 2.0, 1.0, True)


def test_a_single_bad_value_in_a_large_batch_is_found():
    x = torch.zeros(300, 1000)
    x[123, 777] = math.nan
    assert values_of(x).nonfinite
    assert bad_rows(x, 4) == [(123, 1, 0)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_a_sum_that_overflows_is_no_bad_value(dtype):
    assert not values_of(torch.full((300, 1000), torch.finfo(dtype).max, dtype=dtype)).nonfinite


def test_values_that_are_all_bad_have_no_range():
    found = values_of(torch.full((3,), math.nan))
    assert found.nonfinite
    assert math.isnan(found.mean)


def test_a_batch_has_the_fingerprint_of_its_copy_and_of_no_other():
    x = torch.randn(32, 3, 16, 16)
    assert fingerprint(x) == fingerprint(x.clone()) == fingerprint(x.clone().contiguous())
    assert fingerprint(x) != fingerprint(x + 1e-3)
    assert fingerprint(x) != fingerprint(x.reshape(32, -1))
    assert fingerprint(torch.arange(8)) != fingerprint(torch.arange(8).flip(0))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("shape", [(8,), (16, 5), (300, 700)])
def test_a_batch_that_is_not_finite_is_told_from_others_without_a_word_of_numpys(dtype, shape):
    most, total = torch.finfo(dtype).max, math.prod(shape)
    kinds = ([math.nan, 1.0], [math.inf, 1.0], [-math.inf, 1.0], [math.inf, -math.inf], [math.inf, 2.0], [most, -most])
    batches = [torch.tensor(each, dtype=dtype).repeat(total // 2).reshape(shape) for each in kinds]
    batches.append(-batches[3])
    with np.errstate(all="raise"):
        prints = [fingerprint(each) for each in batches]
        assert prints == [fingerprint(each.clone()) for each in batches]
    assert len(set(prints)) == len(batches)
    assert [each.finite for each in prints] == [bool(torch.isfinite(each).all()) for each in batches]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("bad", [(math.nan,), (math.inf, -math.inf), (math.inf, math.nan, 1.0), (1e308, -1e308)])
def test_numpy_says_nothing_of_values_that_are_not_finite_or_overflow(dtype, bad):
    tensor = torch.tensor(bad, dtype=torch.float64).repeat(40).to(dtype)
    with np.errstate(all="raise"):
        for each in (tensor, tensor.reshape(-1, 1), tensor.reshape(len(bad), -1).t()):
            found = values_of(each)
            assert found.nonfinite == (not torch.isfinite(each).all())
            assert class_counts(each) is None


def test_a_large_batch_is_not_looked_at_in_one_column_alone():
    x = torch.zeros(100_000, 2)
    other = x.clone()
    other[:, 1] = 1.0
    assert fingerprint(x) != fingerprint(other)


@pytest.mark.parametrize(
    ("targets", "expected"),
    [
        ([0, 2, 2], [1, 0, 2]),
        ([[1], [1]], [0, 2]),
        ([0.0, 1.0, 1.0], [1, 2]),
        ([-100, 1], [0, 1]),
        ([0.5, 1.0], None),
        ([5000], None),
        ([[0, 1], [1, 0]], None),
    ],
)
def test_class_targets_are_told_from_others(targets, expected):
    assert class_counts(torch.tensor(targets)) == expected


def test_the_fields_of_a_batch_have_their_places():
    batch = {"image": torch.zeros(1), "boxes": [torch.zeros(1), "name", torch.zeros(2)]}
    assert [field for field, _ in fields_in(batch)] == ["image", "boxes.0", "boxes.2"]
    nest = [torch.zeros(1)]
    nest.append(nest)  # a nest that holds itself
    assert len(list(fields_in(nest))) == 3


@dataclass
class Sample:
    features: torch.Tensor
    label: torch.Tensor
    name: str = ""


@dataclass(slots=True)
class Narrow:
    inner: Sample
    weight: torch.Tensor


class Plain:
    def __init__(self):
        self.src, self.length, self._hidden = torch.zeros(1), 3, torch.zeros(2)

    @property
    def mask(self):
        raise AssertionError("nothing is called")


def test_a_batch_that_is_an_object_is_looked_into():
    sample = Sample(torch.zeros(1), torch.zeros(2))
    assert [field for field, _ in fields_in(sample)] == ["features", "label"]
    assert [field for field, _ in fields_in([Narrow(sample, torch.zeros(3))])] == [
        "0.inner.features",
        "0.inner.label",
        "0.weight",
    ]
    assert [field for field, _ in fields_in(Plain())] == ["src"]
    for other in (Sample, nn.Linear(2, 2), torch.optim.SGD([torch.zeros(1)]), "text", 3, None, len):
        assert list(fields_in(other)) == []


def test_the_tensors_of_graphs_are_found_without_the_notes_of_how_they_were_joined():
    data = pytest.importorskip("torch_geometric.data")
    graph = data.Data(x=torch.zeros(3, 2), edge_index=torch.zeros(2, 4, dtype=torch.long), y=torch.zeros(1))
    assert [field for field, _ in fields_in(graph)] == ["x", "edge_index", "y"]
    joined = data.Batch.from_data_list([graph, graph])
    assert [field for field, _ in fields_in(joined)] == ["x", "edge_index", "y", "batch", "ptr"]
    mixed = data.HeteroData()
    mixed["paper"].x, mixed["author"].x = torch.zeros(3, 2), torch.zeros(4, 2)
    mixed["author", "writes", "paper"].edge_index = torch.zeros(2, 5, dtype=torch.long)
    before = str(mixed)
    assert [field for field, _ in fields_in(mixed)][:2] == ["paper.x", "author.x"]
    assert str(mixed) == before


def test_tensors_without_plain_numbers_are_left_alone():
    plain = torch.zeros(2)
    assert has_values(plain)
    for other in (
        torch.zeros(0),
        torch.zeros(2, dtype=torch.complex64),
        torch.zeros(2, device="meta"),
        torch.zeros(2, 2).to_sparse(),
        torch.nn.Parameter(plain),
        plain.as_subclass(type("Mine", (torch.Tensor,), {})),
        "text",
    ):
        assert not has_values(other)


def test_layouts_have_the_names_of_torch():
    x = torch.zeros(2, 3, 4, 4)
    assert layout_of(x) == "contiguous"
    assert layout_of(x.contiguous(memory_format=torch.channels_last)) == "channels_last"
    assert layout_of(x.transpose(0, 1)) == "strided"
    assert layout_of(torch.eye(2).to_sparse()) == "sparse_coo"
