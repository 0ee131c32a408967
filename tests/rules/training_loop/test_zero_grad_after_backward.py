"""This file tests the rule on gradients that are reset too early, on records written by hand."""

import pytest

from torchmagic.records.finding import Severity
from torchmagic.records.loop import DiscardedGradientsRecord, Idle, IdleStepRecord
from torchmagic.records.place import Place
from torchmagic.rules.training_loop.zero_grad_after_backward import zero_grad_after_backward
from torchmagic.session.run import Run

STEP = Place(file="<cell>", line=8, source="opt.step()")
RESET = Place(file="<cell>", line=7, source="opt.zero_grad()")


def idle(count, *, why=Idle.RESET, optimizer="opt", reset=RESET):
    return IdleStepRecord(
        optimizer=optimizer,
        step=count,
        why=why,
        count=count,
        steps=9,
        closure=False,
        computed=True,
        place=STEP,
        reset=reset,
    )


def found(*records, source="", **thresholds):
    run = Run(source=source)
    run.records += records
    return list(zero_grad_after_backward(run, **thresholds))


def test_two_steps_after_a_reset_are_enough_and_the_reset_is_the_place():
    (finding,) = found(idle(1), idle(2))
    assert (finding.severity, finding.optimizer, finding.line, finding.step) == (Severity.ERROR, "opt", 7, 1)
    assert finding.source == "opt.zero_grad()"
    assert finding.evidence["steps without gradients"] == 2


def test_a_reset_that_no_line_tells_of_is_placed_at_the_step():
    assert found(idle(1, reset=None), idle(2, reset=None))[0].line == 8


def test_once_is_silent_and_the_threshold_is_the_callers():
    assert found(idle(1)) == []
    assert len(found(idle(1), min_steps=1)) == 1
    assert found(idle(1), idle(2), min_steps=3) == []


def test_a_step_without_any_backward_is_another_rules():
    assert found(idle(1, why=Idle.NO_BACKWARD), idle(2, why=Idle.NO_BACKWARD)) == []


@pytest.mark.parametrize("names", [("g_opt",), ("g_opt", "d_opt")])
def test_each_optimizer_is_counted_by_itself(names):
    records = [idle(count, optimizer=name) for name in names for count in (1, 2)]
    assert [finding.optimizer for finding in found(*records, idle(1, optimizer="once"))] == list(names)


def discarded(**changes):
    facts = {
        "optimizer": "opt",
        "step": 1,
        "wiped": 3,
        "count": 8,
        "steps": 8,
        "inspected": False,
        "backward": STEP,
        "reset": RESET,
    }
    return DiscardedGradientsRecord(**{**facts, **changes})


def test_batches_that_are_wiped_before_they_add_up_are_told_at_the_reset():
    (finding,) = found(discarded())
    assert (finding.severity, finding.optimizer, finding.line, finding.step) == (Severity.ERROR, "opt", 7, 1)
    assert "1 of 4 batches" in finding.title


@pytest.mark.parametrize("changes", [{"count": 3}, {"steps": 11}, {"inspected": True}])
def test_gradients_that_are_thrown_away_now_and_then_or_looked_at_are_silent(changes):
    assert found(discarded(**changes)) == []


def test_gradients_that_the_cell_reads_by_hand_are_silent():
    assert found(discarded(), source="kept = [p.grad.clone() for p in net.parameters()]") == []


def test_the_backward_whose_gradients_are_never_used_is_named():
    lost, kept = (Place(file="<cell>", line=line, source=f"{name}.backward()") for line, name in ((6, "a"), (8, "b")))
    (finding,) = found(discarded(backward=lost, kept=kept, wiped=1))
    assert finding.line == RESET.line
    assert finding.title == "opt never uses the gradients of a.backward(): they are reset before b.backward()"
    assert found(discarded(backward=lost, kept=kept), source="score.retain_grad()") == []
