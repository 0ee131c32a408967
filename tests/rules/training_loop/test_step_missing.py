"""This file tests the rule on optimizers that never step, on records written by hand."""

from dataclasses import replace

import pytest

from torchmagic.records.finding import Severity
from torchmagic.records.loop import UnsteppedRecord
from torchmagic.records.model import OptimizerRecord
from torchmagic.records.objective import ObjectiveRecord
from torchmagic.records.place import Place
from torchmagic.rules.training_loop.step_missing import step_missing
from torchmagic.session.run import Run, Status

BACKWARD = Place(file="<cell>", line=4, source="loss.backward()")
SCHEDULE = Place(file="<cell>", line=5, source="scheduler.step()")


def unstepped(**changes):
    facts = {
        "optimizer": "opt",
        "class_name": "Adam",
        "iterations": 12,
        "resets": 12,
        "scheduled": 0,
        "built": False,
        "changed": False,
        "backward": BACKWARD,
        "schedule": None,
    }
    return UnsteppedRecord(**{**facts, **changes})


def found(*records, source="", status=Status.OK, **thresholds):
    run = Run(source=source)
    run.status = status
    run.records += records
    return list(step_missing(run, **thresholds))


def test_an_optimizer_that_is_reset_but_never_steps_is_told_at_the_backward():
    (finding,) = found(unstepped())
    assert (finding.severity, finding.optimizer, finding.line) == (Severity.ERROR, "opt", 4)
    assert finding.fix.startswith("opt.step()")


def test_a_step_in_a_branch_that_is_never_taken_is_there_already():
    waiting = Place(file="<cell>", line=9, source="opt.step()")
    (finding,) = found(unstepped(iterations=64, waiting=waiting))
    assert (finding.fix, finding.line) == ("# look at the if around line 9, opt.step(): it was never true", 9)


def test_one_whose_schedule_moves_is_told_there():
    assert found(unstepped(scheduled=3, schedule=SCHEDULE))[0].line == 5


@pytest.mark.parametrize(("iterations", "findings"), [(1, 0), (2, 0), (3, 1)])
def test_three_iterations_are_asked_for_and_one_is_an_inspection(iterations, findings):
    assert len(found(unstepped(iterations=iterations))) == findings


def test_the_threshold_is_the_callers():
    assert found(unstepped(), min_iterations=13) == []


@pytest.mark.parametrize("changes", [{"changed": True}, {"resets": 0}])
def test_parameters_that_somebody_else_updates_and_unused_optimizers_are_silent(changes):
    assert found(unstepped(**changes)) == []


def test_building_it_is_a_use():
    assert len(found(unstepped(resets=0, built=True))) == 1


@pytest.mark.parametrize("status", [Status.ERROR, Status.INTERRUPTED])
def test_a_run_that_did_not_come_to_its_end_is_silent(status):
    assert found(unstepped(), status=status) == []


STEPPED = OptimizerRecord(name="other", class_name="Adam", lr=(0.1,), parameters=())


@pytest.mark.parametrize("source", ["opt.step()", "self.opt.step()", "scaler.step(opt)"])
def test_a_step_that_stands_there_may_wait_for_more_batches(source):
    assert found(unstepped(), source=source) == []
    assert len(found(unstepped(iterations=32), source=source)) == 1


def test_the_step_of_another_optimizer_is_not_waited_for():
    assert len(found(unstepped(), STEPPED, source="other.step()")) == 1
    assert len(found(unstepped(optimizer="Adam"), STEPPED, source="other.step()")) == 1
    assert found(unstepped(optimizer="Adam"), source="unknown.step()") == []


@pytest.mark.parametrize("line", ["p -= 0.1 * p.grad", "norms.append(p.grad.norm())", "fisher[n] += p.grad ** 2"])
def test_gradients_that_are_looked_at_by_hand_are_silent(line):
    assert found(unstepped(), source=f"for n, p in net.named_parameters():\n    {line}\n") == []


def test_resetting_by_hand_is_not_looking_at_gradients():
    source = "for p in net.parameters():\n    if p.grad is not None:\n        p.grad.zero_()\n    p.grad = None\n"
    assert len(found(unstepped(), source=source)) == 1


def test_the_part_that_it_would_train_is_named():
    assert found(unstepped(module="net.decoder"))[0].module == "net.decoder"
    assert found(unstepped())[0].module is None


LOSS = ObjectiveRecord(
    loss="loss",
    place=BACKWARD,
    step=0,
    criteria=("cross_entropy",),
    mixed=False,
    sign=1,
    scale=1.0,
    weighted=False,
    log_prob=False,
    num_classes=2,
    altered=False,
)


def untouched(**changes):
    return unstepped(**{"resets": 0, "alone": 12, "wiped": 11, **changes})


def test_one_of_an_earlier_cell_is_told_where_training_goes_on_without_it():
    (finding,) = found(untouched(iterations=30), LOSS)
    assert finding.line == 4
    assert finding.evidence["iterations with gradients"] == 12


@pytest.mark.parametrize(
    "changes",
    [{"alone": 2}, {"wiped": 0}, {"evaluated": True}, {"inspected": True}, {"changed": True}],
)
def test_gradients_that_nobody_means_to_train_with_are_silent(changes):
    assert found(untouched(**changes), LOSS) == []


def test_gradients_that_pile_up_are_told_once_they_are_many():
    assert len(found(untouched(wiped=0, alone=32), LOSS)) == 1


def test_a_loss_that_is_no_criterion_may_be_a_question():
    assert found(untouched()) == []
    assert found(untouched(), replace(LOSS, criteria=())) == []
