"""This file is the proof that norms and totals of many tensors are right, and do not overflow on the way."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from torchmagic.tensors.reduce import SMALL, norms, packs_well, quick_total, total_norm

DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e5m2, torch.complex64]
NUMBERS = st.floats(-(2.0**100), 2.0**100, width=32) | st.sampled_from([0.0, 1e30, -1e30])
MANY = st.lists(st.lists(NUMBERS, max_size=20), min_size=1, max_size=5)


def made(lists, dtype):
    return [torch.tensor(each, dtype=torch.float64, device="cpu").to(dtype) for each in lists]


def in_float64(tensor):
    wide = torch.complex128 if tensor.is_complex() else torch.float64
    return np.abs(tensor.to(wide).reshape(-1).numpy())


@pytest.mark.parametrize("dtype", DTYPES)
@given(lists=MANY)
@settings(max_examples=25)
def test_norms_are_those_of_numpy(dtype, lists):
    tensors = made(lists, dtype)
    for tensor, norm in zip(tensors, norms(tensors), strict=True):
        values = in_float64(tensor)
        if np.isfinite(values).all():
            # Squares of numbers below 1e-19 vanish in float32: a gradient so small counts as none.
            assert norm == pytest.approx(np.linalg.norm(values), rel=1e-5, abs=1e-18)
        else:
            assert not math.isfinite(norm)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("pack", [True, False])
@given(lists=MANY)
@settings(max_examples=25)
def test_the_quick_total_is_that_of_numpy_both_ways(dtype, pack, lists):
    tensors = made(lists, dtype)
    wanted = np.linalg.norm(np.concatenate([in_float64(tensor) for tensor in tensors]))
    assert quick_total(tensors, pack=pack) == pytest.approx(wanted, rel=1e-5, abs=1e-18)


@pytest.mark.parametrize("broken", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("pack", [True, False])
def test_one_broken_value_among_many_comes_through(broken, pack):
    tensors = [torch.ones(100, 100, device="cpu") for _ in range(9)]
    tensors[4][37, 11] = broken
    total = quick_total(tensors, pack=pack)
    assert math.isnan(total) == math.isnan(broken)
    assert not math.isfinite(total)


@pytest.mark.filterwarnings("ignore:Sparse")
def test_gradients_of_another_layout_than_their_parameters_are_taken_in():
    sparse = torch.eye(3, device="cpu").to_sparse()
    assert quick_total([sparse, torch.ones(6, device="cpu")], pack=True) == pytest.approx(3.0)


def test_what_cannot_be_read_counts_as_nothing():
    assert norms([torch.ones(3, device="meta"), torch.ones(4, device="cpu")]) == [0.0, 2.0]
    assert quick_total([torch.ones(3, device="meta")], pack=False) == 0.0


def test_the_total_of_huge_norms_is_finite():
    assert total_norm([3e200, 4e200]) == pytest.approx(5e200)
    assert math.isnan(total_norm([math.nan, math.inf]))
    assert total_norm([1.0, math.inf]) == math.inf
    assert total_norm([]) == 0.0


def test_only_small_sets_of_one_plain_kind_are_packed():
    class Own(torch.Tensor):
        pass

    one = torch.ones(4, device="cpu")
    assert packs_well([one, one])
    assert not packs_well([])
    assert not packs_well([one, one.double()])
    assert not packs_well([one.bfloat16()])
    assert not packs_well([one.to_sparse()])
    assert not packs_well([one.as_subclass(Own)])
    assert not packs_well([torch.empty(SMALL + 1, device="cpu")])
