"""This file is the proof that histograms of tensors counted together are those of each by itself."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from torchmagic.records.tensor import even_edges
from torchmagic.tensors import histograms
from torchmagic.tensors.histograms import histograms_of

NUMBERS = st.floats(-(2.0**100), 2.0**100, width=32) | st.sampled_from([0.0, 1.0, math.nan, math.inf, -math.inf])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(NUMBERS, min_size=1, max_size=30), min_size=1, max_size=6),
    st.sampled_from([torch.float64, torch.float32, torch.bfloat16]),
)
def test_all_finite_values_lie_between_the_ends_of_each(numbers, dtype):
    tensors = [torch.tensor(each, dtype=dtype) for each in numbers]
    for tensor, found in zip(tensors, histograms_of(tensors), strict=True):
        finite = tensor[torch.isfinite(tensor)].double()
        if not len(finite) or not 0 < (finite.max() - finite.min()).item() < math.inf:
            assert found is None
            continue
        assert found.edges == even_edges(finite.min().item(), finite.max().item(), len(found.counts))
        assert sum(found.counts) == len(finite)
        assert found.counts[0] > 0
        assert found.counts[-1] > 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_each_value_is_counted_in_its_bin(monkeypatch, dtype):
    monkeypatch.setattr(histograms, "MOST_VALUES", 500)
    generator = torch.Generator().manual_seed(0)
    sizes = [1, 300, 7, 300, 5000, 2, 100, 300]  # one by itself, and several arrays
    tensors = [torch.randn(size, generator=generator, dtype=dtype) * 3 + 1 for size in sizes]
    found = histograms_of(tensors)
    assert found[0] is None
    for tensor, one in zip(tensors[1:], found[1:], strict=True):
        expected, _ = np.histogram(tensor.numpy(), bins=one.edges)
        assert sum(abs(a - b) for a, b in zip(one.counts, expected.tolist(), strict=True)) <= 2
        assert sum(one.counts) == tensor.numel()


def test_large_and_small_ones_keep_their_order():
    sizes = [3, 5000, 4, 5000, 5]
    found = histograms_of([torch.arange(float(size)) for size in sizes])
    assert [one.edges[-1] for one in found] == [size - 1 for size in sizes]


def test_a_broken_or_constant_tensor_takes_nothing_from_its_neighbours():
    rows = [[0.0, 1.0, 3.0], [math.nan, 1.0, 2.0], [5.0, 5.0, 5.0], [math.inf, -math.inf, 0.0], [1.0, 2.0, 2.0]]
    first, broken, constant, infinite, last = histograms_of([torch.tensor(row) for row in rows])
    assert (first.counts, last.counts) == ((1, 1, 0, 1), (1, 0, 0, 2))
    assert broken.counts == (1, 0, 0, 1)
    assert (constant, infinite) == (None, None)


def test_of_nothing_there_is_nothing():
    assert histograms_of([]) == []
