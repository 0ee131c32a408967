"""This file is the comparison of two tensors, beside what NumPy and torch.testing say."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from torchmagic.tensors import compare as room
from torchmagic.tensors.compare import compare
from torchmagic.tensors.describe import Asked, describe

FLOATS = st.floats(width=32) | st.sampled_from([0.0, 1.0, math.nan, math.inf, -math.inf])
PAIRS = st.lists(st.tuples(FLOATS, FLOATS) | FLOATS.map(lambda x: (x, x)), min_size=1, max_size=30)


def made(numbers, dtype=torch.float32):
    return torch.tensor(numbers, dtype=dtype, device="cpu")


@given(pairs=PAIRS)
def test_any_two_float32_tensors_are_compared_as_numpy_and_torch_do(pairs):
    one, other = made([left for left, _ in pairs]), made([right for _, right in pairs])
    found = compare(one, other, name="b")
    left, right = one.numpy().astype(np.float64), other.numpy().astype(np.float64)
    same = (left == right) | (np.isnan(left) & np.isnan(right))
    both = np.isfinite(left) & np.isfinite(right)
    assert found.num_different == (~same).sum()
    assert found.num_one_sided == (~same & ~both).sum()
    close = np.isclose(left, right, rtol=found.rtol, atol=found.atol, equal_nan=True)
    assert found.num_outside == (~close).sum()
    if both.any():
        assert found.max_abs == np.abs(left[both] - right[both]).max()
    else:
        assert found.max_abs is None


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_neighbouring_numbers_are_one_step_apart(dtype):
    one = made([1.0, -1.0, 0.0, 3.0], dtype)
    assert compare(one, torch.nextafter(one, made(9.0, dtype)), name="b").max_ulp == 1
    assert compare(made([-0.0], dtype), made([0.0], dtype), name="b").max_ulp == 0
    assert torch.testing.assert_close(one, torch.nextafter(one, made(9.0, dtype))) is None
    assert compare(one, torch.nextafter(one, made(9.0, dtype)), name="b").is_close


def test_the_places_are_those_of_the_elements(monkeypatch):
    monkeypatch.setattr(room, "CPU_PIECE", 7)
    one = torch.ones(4, 5, 6, device="cpu")
    other = one.clone()
    other[2, 3, 4] = 1.5
    other[3, 4, 5] = 1e-3
    for seen in (other, other.permute(2, 1, 0).contiguous().permute(2, 1, 0)):
        found = compare(one, seen, name="b")
        assert (found.num_different, found.max_abs_at, found.max_rel_at) == (2, (3, 4, 5), (3, 4, 5))
        assert found.max_abs == pytest.approx(0.999)
        assert found.max_abs_values == pytest.approx((1.0, 1e-3))


def test_whole_numbers_have_to_be_equal():
    found = compare(made([2**60, 7], torch.int64), made([2**60 + 1, 7], torch.int64), name="b")
    assert (found.num_different, found.num_outside, found.max_ulp) == (1, 1, None)


def test_the_coarser_dtype_says_how_close_is_close():
    found = compare(made([1.0]), made([1.01], torch.bfloat16), name="b")
    assert found.is_close
    assert found.rtol == 1.6e-2


def test_another_shape_is_refused_in_one_line():
    with pytest.raises(ValueError, match=r"^b has shape \[3\], \[2\] was wanted; compare equal shapes$"):
        describe(made([1.0, 2.0]), asked=Asked(other=made([1.0, 2.0, 3.0]), other_name="b"))


def test_sparse_expanded_and_numpy_ones_are_compared_by_what_they_show():
    dense = torch.eye(3, device="cpu")
    for other in (dense.to_sparse(), dense.numpy()):
        assert describe(dense, asked=Asked(other=other)).comparison.num_different == 0
    assert describe(dense[:1].expand(3, 3), asked=Asked(other=dense)).comparison.num_different == 4


WIDE = [torch.int64, torch.uint64]


@pytest.mark.parametrize("dtypes", [(one, other) for one in WIDE for other in WIDE], ids=str)
def test_whole_numbers_that_a_float64_cannot_tell_apart_differ_by_what_they_differ(dtypes):
    one = torch.tensor([2**53, 5, 2**62], device="cpu").to(dtypes[0])
    other = torch.tensor([2**53 + 1, 5, 2**62 + 3], device="cpu").to(dtypes[1])
    found = compare(one, other, name="y")
    assert (found.num_different, found.num_outside, found.max_abs, found.max_abs_at) == (2, 2, 3.0, (2,))
    assert found.max_abs_values == (2**62, 2**62 + 3)
    assert found.max_rel == pytest.approx(2.0**-53)


def test_whole_numbers_at_both_ends_are_compared():
    ends = torch.tensor([2**63 - 1, -(2**63)], device="cpu")
    assert compare(ends, ends.flip(0), name="y").max_abs == 2.0**64
    greatest = torch.full((2,), -1, device="cpu").view(torch.uint64)
    assert compare(greatest, torch.zeros(2, dtype=torch.uint8, device="cpu"), name="y").max_abs == 2.0**64
