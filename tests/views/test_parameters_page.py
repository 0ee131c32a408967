"""This file tests the page of parameters beyond its plain table: small curves, alarms, statistics and reach."""

import math

import pytest

from torchmagic.records.model import ParameterRecord
from torchmagic.records.reach import ReachRecord
from torchmagic.session.run import Run, Status
from torchmagic.views.page import Fold, Table, Text, Trend
from torchmagic.views.parameters import parameters_page

NAME = "net.weight"


@pytest.fixture
def run():
    run = Run()
    run.status = Status.OK
    run.records.append(
        ParameterRecord(
            name=NAME, model="net", module="net", shape=(2, 8), dtype="float32", device="cpu", trainable=True
        )
    )
    for step in range(40):
        for metric in ("grad_norm", "weight_norm", "grad_zero_share"):
            run.frame(metric, (NAME,)).append(step, (1.0 + step,))
    return run


def table(run):
    return next(block for block in parameters_page(run).blocks if isinstance(block, Table))


def texts(run):
    return " ".join(block.text for block in parameters_page(run).blocks if isinstance(block, Text))


def reach(**facts):
    known = {
        "loss": "loss", "place": None, "step": 0, "has_graph": True, "num_nodes": 3, "num_reached": 4, "opaque": (),
        "models": ("net",), "unreached": (), "num_unreached": 0, "frozen": (), "num_frozen": 0, "untouched": (),
        "num_other_leaves": 0,
    }  # fmt: skip
    return ReachRecord(**{**known, **facts})


def test_the_course_of_the_gradient_norm_stands_in_the_table(run):
    shown = table(run)
    assert shown.columns == ("parameter", "shape", "grad norm", "highest", "over steps", "grad zeros", "weight norm")
    course = shown.rows[0][4]
    assert isinstance(course, Trend)
    assert len(course.values) <= 12
    assert course.values[-1] == 40.0


def test_a_tensor_of_no_model_has_a_row_by_its_name(run):
    run.frame("grad_norm", ("",)).append(0, (9.0,))
    run.frame("grad_norm", ("w",)).append(0, (3.0,))
    run.frame("update_ratio", ("w",)).append(0, (0.01,))
    assert [row[:3] for row in table(run).rows] == [(NAME, "2×8", 40.0), ("w", None, 3.0)]
    bare = Run()
    bare.status = Status.OK
    bare.frame("grad_norm", ("w", "b")).append(0, (3.0, 0.5))
    assert table(bare).columns == ("parameter", "grad norm", "highest")
    assert [row[:2] for row in table(bare).rows] == [("w", 3.0), ("b", 0.5)]
    assert texts(bare).startswith("2 parameters. Values at")


def test_a_spike_of_one_step_is_seen_in_the_small_curve(run):
    run.frame("grad_norm", (NAME,)).append(40, (1e6,))
    run.frame("grad_norm", (NAME,)).append(41, (1.0,))
    course = table(run).rows[0][4]
    assert max(course.values) == 1e6
    assert course.log


def test_alarms_are_columns_only_when_one_rings(run):
    for metric in ("update_swallowed", "grad_nonfinite", "weight_nonfinite"):
        run.frame(metric, (NAME,)).append(0, (0.0,))
    assert not {"swallowed", "bad grads", "bad weights"} & set(table(run).columns)
    assert not table(run).marked
    run.frame("grad_nonfinite", (NAME,)).append(1, (3.0,))
    run.frame("grad_nonfinite", (NAME,)).append(2, (0.0,))
    run.frame("update_swallowed", (NAME,)).append(1, (0.5,))
    shown = table(run)
    assert shown.columns[2:4] == ("swallowed", "bad grads")
    assert list(shown.rows[0][2:4]) == [0.5, 3.0]
    assert shown.marked == {0}
    assert "Swallowed: share" in texts(run)


def test_a_share_that_could_not_be_seen_rings_no_alarm(run):
    run.frame("update_swallowed", (NAME,)).append(0, (math.nan,))
    assert "swallowed" not in table(run).columns


def test_other_statistics_wait_in_a_fold(run):
    run.frame("grad_mean", (NAME,)).append(0, (0.25,))
    fold = parameters_page(run).blocks[-1]
    assert isinstance(fold, Fold)
    (more,) = fold.blocks
    assert more.columns == ("parameter", "shape", "type", "grad mean", "grad RMS", "weight RMS")
    assert more.rows[0][3:] == (0.25, 10.0, 10.0)


def test_without_statistics_there_is_no_fold():
    run = Run()
    run.records.append(
        ParameterRecord(name=NAME, model="net", module="net", shape=(), dtype="float32", device="cpu", trainable=True)
    )
    assert not [block for block in parameters_page(run).blocks if isinstance(block, Fold)]
    assert texts(run) == "1 parameter."


def test_what_a_loss_does_not_reach_is_said_once_and_newest(run):
    run.records += [reach(unreached=("net.old",), num_unreached=1)] * 2
    run.records.append(reach(unreached=tuple(f"net.{i}" for i in range(8)), num_unreached=9, step=5))
    assert "loss does not reach net.0, net.1, net.2, net.3, net.4, net.5 and 3 more (4 reached)." in texts(run)
    assert "net.old" not in texts(run)


def test_a_loss_that_reaches_all_is_not_talked_about(run):
    run.records.append(reach())
    assert "reach" not in texts(run)


def test_a_loss_without_a_graph_and_a_model_left_out_are_said(run):
    run.records += [reach(has_graph=False), reach(loss="other", untouched=("encoder",))]
    assert "loss has no graph: it reaches no parameter." in texts(run)
    assert "other reaches nothing of encoder, which ran before it." in texts(run)


def test_what_another_loss_reaches_is_not_talked_about(run):
    run.records += [
        reach(loss="a", unreached=("net.head_b",), num_unreached=1),
        reach(loss="b", unreached=("net.head_a",), num_unreached=1, untouched=("critic",)),
        reach(loss="c", models=("critic",)),
    ]
    assert "reach" not in texts(run)


def test_while_a_run_goes_on_the_panel_is_spared_the_details(run):
    run.frame("grad_mean", (NAME,)).append(0, (0.25,))
    run.status = Status.RUNNING
    assert not [block for block in parameters_page(run).blocks if isinstance(block, Fold)]


def test_a_course_of_two_values_is_not_drawn():
    run = Run()
    run.records.append(
        ParameterRecord(name=NAME, model="net", module="net", shape=(), dtype="float32", device="cpu", trainable=True)
    )
    for step in range(2):
        run.frame("grad_norm", (NAME,)).append(step, (1.0,))
    assert "over steps" not in table(run).columns


def test_a_run_without_parameters_has_no_page():
    assert parameters_page(Run()).blocks == []
