"""This file tests the histories of tensors."""

import pytest

from torchmagic.analyses.histories import coarser, ends, histories
from torchmagic.records.snapshot import SnapshotKind, SnapshotRecord
from torchmagic.records.tensor import Histogram
from torchmagic.session.run import Run


def even(low, high, *, bars=8, count=10):
    edges = tuple(low + (high - low) * i / bars for i in range(bars + 1))
    return Histogram(edges=edges, counts=(count,) * bars)


def taken(subject, step, histogram):
    return SnapshotRecord(what=SnapshotKind.WEIGHT, subject=subject, step=step, histogram=histogram, values=())


def test_values_that_all_shift_by_their_width_moved_by_about_one():
    run = Run()
    run.records += [taken("w", 0, even(0.0, 1.0)), taken("w", 1, even(5.0, 6.0)), taken("w", 2, even(1.0, 2.0))]
    (row,) = histories(run)
    assert row.moved == pytest.approx(1.0, rel=0.1)
    assert [record.step for record in row.snapshots] == [0, 1, 2]


def test_what_moved_most_comes_first_and_what_has_no_spread_is_left_out():
    run = Run()
    run.records += [taken("still", step, even(0.0, 1.0)) for step in (0, 1)]
    run.records += [taken("moving", 0, even(0.0, 1.0)), taken("moving", 1, even(0.0, 3.0))]
    run.records += [taken("constant", step, None) for step in (0, 1)]
    run.records += [taken("empty", step, Histogram(edges=(0.0, 1.0), counts=(0,))) for step in (0, 1)]
    assert [row.subject for row in histories(run)] == ["moving", "still"]


def test_the_ends_of_a_histogram_are_its_least_value_its_median_and_its_greatest():
    histogram = Histogram(edges=(0.0, 1.0, 2.0, 3.0), counts=(4, 4, 2))
    assert ends(histogram) == pytest.approx([0.0, 1.25, 3.0])


@pytest.mark.parametrize("bars", [1, 5, 24, 25, 64])
def test_a_coarser_histogram_keeps_its_ends_and_its_total(bars):
    fine = even(-1.0, 1.0, bars=bars)
    found = coarser(fine, 24)
    assert len(found.counts) <= 24
    assert len(found.edges) == len(found.counts) + 1
    assert (found.edges[0], found.edges[-1]) == (fine.edges[0], fine.edges[-1])
    assert sum(found.counts) == sum(fine.counts)
