"""This file tests the page of snapshots."""

import pytest

from torchmagic.records.snapshot import SnapshotKind
from torchmagic.session.run import Run, Status
from torchmagic.views.page import Fold, Plot
from torchmagic.views.snapshots import snapshots_page


@pytest.fixture
def run(make_snapshot):
    run = Run()
    run.status = Status.OK
    for step, width in ((0, 1.0), (1, 1.5), (2, 2.0), (4, 3.0), (8, 5.0)):
        run.records += [make_snapshot("net.moving", step, width), make_snapshot("net.still", step, 1.0)]
    return run


def plots(run):
    return [block for block in snapshots_page(run).blocks if isinstance(block, Plot)]


def test_the_tensor_that_moved_most_is_drawn_at_four_steps_the_first_and_last_among_them(run):
    (plot,) = plots(run)
    assert plot.title == "weights of net.moving"
    assert [line.name for line in plot.lines] == ["step 0", "step 1", "step 4", "step 8"]
    assert plot.x_label == "value"


def test_the_area_under_each_curve_is_one_so_that_steps_compare(run):
    for line in plots(run)[0].lines:
        inner = list(zip(line.steps, line.values, strict=True))[1:-1]
        width = (line.steps[-1] - line.steps[0]) / len(inner)
        assert sum(value * width for _, value in inner) == pytest.approx(1.0)
        assert (line.values[0], line.values[-1]) == (0.0, 0.0)


def test_each_kind_of_tensor_has_one_picture(run, make_snapshot):
    for kind in (SnapshotKind.GRADIENT, SnapshotKind.ACTIVATION):
        run.records += [make_snapshot("net.x", step, 1.0, what=kind) for step in (0, 1)]
    assert [plot.title for plot in plots(run)] == ["weights of net.moving", "gradients of net.x", "outputs of net.x"]


def test_a_tensor_of_few_values_is_not_drawn_but_told(make_snapshot):
    run = Run()
    run.status = Status.OK
    run.records += [make_snapshot("net.bias", step, 1.0 + step, count=2) for step in (0, 4)]
    assert not plots(run)
    fold = snapshots_page(run).blocks[-1]
    assert isinstance(fold, Fold)
    assert fold.blocks[0].rows[0][:2] == ["net.bias", "weight"]


def test_all_tensors_stand_in_a_fold_those_that_moved_most_first(run):
    table = snapshots_page(run).blocks[-1].blocks[0]
    assert [row[0] for row in table.rows] == ["net.moving", "net.still"]
    assert table.rows[0][3:] == [8, -0.5, 0.0, 0.5, -2.5, 0.0, 2.5]
    assert table.rows[1][2] == 0.0


def test_one_look_is_no_history(make_snapshot):
    run = Run()
    run.status = Status.OK
    run.records.append(make_snapshot("net.weight", 0, 1.0))
    assert snapshots_page(run).blocks == []


def test_snapshots_wait_for_the_end_of_the_run(run):
    run.status = Status.RUNNING
    assert snapshots_page(run).blocks == []
