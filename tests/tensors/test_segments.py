"""This file is the proof that segments of one array are added up right, and that it is said where they are not."""

import math

import numpy as np
import pytest

from torchmagic.tensors import segments
from torchmagic.tensors.packing import Packing
from torchmagic.tensors.segments import segments_of


def measured(rows, kind=np.float32):
    values = [np.array(row, dtype=kind) for row in rows]
    packed = np.concatenate(values)
    before = packed.copy()
    found = segments_of(Packing(tuple(map(len, values))), packed)
    np.testing.assert_array_equal(packed, before)
    return found, [each.astype(np.float64) for each in values]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_sums_are_those_of_each_row(kind):
    draw = np.random.default_rng(0)
    rows = [draw.normal(size=size) * (draw.random(size) > 0.3) for size in (5, 3000, 64, 2)]
    found, wanted = measured(rows, kind)
    assert not found.unsure.any()
    for i, row in enumerate(wanted):
        assert found.totals[i] == pytest.approx(row.sum(), rel=1e-5, abs=1e-4)
        assert found.squares[i] == pytest.approx((row**2).sum(), rel=1e-5)
        assert found.rests[i] == pytest.approx(((row - row.mean()) ** 2).sum(), rel=1e-5)
        assert (found.counts[i], found.filled[i]) == (len(row), np.count_nonzero(row))
        assert (found.lows[i], found.highs[i]) == (row.min(), row.max())


def test_only_what_single_precision_cannot_tell_is_added_up_in_double(monkeypatch):
    sizes, kernels = [], segments._sums
    monkeypatch.setattr(
        segments, "_sums", lambda packing, packed: (sizes.append(packed.dtype), kernels(packing, packed))[1]
    )
    near, far, plain = 1 + 1e-5 * np.arange(50), [1e25, -1e25], [1.0, -1.0]
    found, wanted = measured([plain, near, far, [1e-30, 2e-30], [3e-22, 7e-22]])
    assert sizes == [np.float32, np.float64]
    assert not found.unsure.any()
    for rest, row in zip(found.rests, wanted, strict=True):
        assert rest == pytest.approx(((row - row.mean()) ** 2).sum(), rel=1e-6, abs=0)
    sizes.clear()
    measured([plain, plain])
    assert sizes == [np.float32]


def test_what_is_not_finite_is_said_to_be_unsure_and_spoils_no_neighbour():
    found, _ = measured([[1.0, 2.0], [math.nan, 1.0], [math.inf, 1.0], [0.0, 0.0], [3.0, 3.0]])
    assert found.unsure.tolist() == [0, 1, 1, 0, 0]
    assert (found.rests[0], found.rests[3], found.rests[4]) == (pytest.approx(0.5), 0.0, 0.0)


@pytest.mark.parametrize("value", [1e-200, 1e200])
def test_equal_values_whose_squares_leave_double_precision_are_unsure(value):
    found, _ = measured([[value, value], [1.0, 1.0]], np.float64)
    assert found.unsure.tolist() == [1, 0]
