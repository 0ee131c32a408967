"""This file is the proof that small tensors measured together give what each gives by itself."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from torchmagic.tensors import alike
from torchmagic.tensors.alike import Glances
from torchmagic.tensors.glance import MOST_VALUES, glance, sample

NUMBERS = st.floats(width=32) | st.sampled_from([0.0, -0.0, 1.0, 1e-30, 1e30, math.nan, math.inf, -math.inf])


def taken(tensors):
    small, found = Glances(), [[] for _ in tensors]
    for tensor, into in zip(tensors, found, strict=True):
        small.take(tensor, into)
    small.finish()
    return found


@settings(max_examples=100, deadline=None)
@given(
    st.integers(1, 9).flatmap(lambda size: st.lists(st.lists(NUMBERS, min_size=size, max_size=size), max_size=6)),
    st.sampled_from([torch.float64, torch.float32]),
)
def test_each_is_told_what_a_glance_says_of_it(numbers, dtype):
    tensors = [torch.tensor(each, dtype=dtype) for each in numbers]
    for tensor, found in zip(tensors, taken(tensors), strict=True):
        total, length, *rest = glance(tensor)
        scale = max((abs(each) for each in tensor.tolist() if math.isfinite(each)), default=0.0)
        assert found[0] == pytest.approx(total, rel=1e-5, abs=1e-6 * scale, nan_ok=True)
        assert found[1] == pytest.approx(length, rel=1e-4, abs=1e-6 * scale, nan_ok=True)
        assert found[2:] == pytest.approx(rest, nan_ok=True)


@pytest.mark.parametrize("mean", [0.0, 3e3, 1e30, 1e-30])
def test_lengths_are_right_where_the_mean_takes_most_digits_and_squares_leave_single_precision(mean):
    generator = torch.Generator().manual_seed(0)
    rows = [(mean + (mean * 1e-3 or 1.0) * torch.randn(500, generator=generator)) for _ in range(4)]
    for row, found in zip(rows, taken(rows), strict=True):
        assert found[1] / math.sqrt(500) == pytest.approx(row.double().numpy().std(), rel=1e-5)


def test_a_copy_is_measured_whatever_becomes_of_the_tensor():
    tensors = [torch.full((4,), float(number)) for number in range(3)]
    small, found = Glances(), [[] for _ in tensors]
    for tensor, into in zip(tensors, found, strict=True):
        assert torch.equal(small.take(tensor, into), tensor)
        tensor.fill_(99)
    small.finish()
    assert [each[0] for each in found] == [0.0, 4.0, 8.0]


def test_tensors_of_many_shapes_and_types_keep_apart():
    tensors = [torch.ones(2, 3), torch.ones(6), torch.ones(3, 2), torch.ones(2, 3, dtype=torch.float64)] * 4
    assert [tuple(each) for each in taken(tensors)] == [(6.0, 0.0, 1.0, 1.0, 0, 6)] * 16


def test_no_more_than_so_many_values_wait(monkeypatch):
    monkeypatch.setattr(alike, "MOST_WAITING", 100)
    small, found = Glances(), []
    for size in (30, 31) * 5:
        found.append([])
        small.take(torch.ones(size), found[-1])
    assert sum(map(bool, found)) == 8
    small.finish()
    assert all(found)


def test_ones_that_are_constant_or_broken_are_told_among_others():
    rows = [[2.0, 2.0], [0.0, 0.0], [1.0, math.inf], [math.nan, 1.0], [3.0, 5.0]]
    constant, empty, infinite, broken, sound = taken([torch.tensor(row) for row in rows])
    assert constant == [4.0, 0.0, 2.0, 2.0, 0, 2]
    assert empty == [0.0, 0.0, 0.0, 0.0, 2, 2]
    assert (infinite[0], infinite[-1]) == (math.inf, 1)
    assert np.isnan(broken[0])
    assert broken[-1] == 1
    assert sound == [8.0, pytest.approx(math.sqrt(2)), 3.0, 5.0, 0, 2]


def test_large_ones_and_half_ones_are_told_at_once_and_of_a_sample():
    small, into, half = Glances(), [], []
    large = torch.arange(MOST_VALUES + 4096.0)
    looked_at = small.take(large, into)
    assert looked_at.numel() < large.numel()
    assert into == list(glance(sample(large)))
    small.take(torch.ones(3, dtype=torch.bfloat16), half)
    assert half == [3.0, 0.0, 1.0, 1.0, 0, 3]
