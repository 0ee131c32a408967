"""This file tests the rule on overfitting, on evaluations written by hand."""

import pytest

from torchmagic.records.evaluation import EvaluationRecord, StoppingRecord
from torchmagic.records.feeding import SharedRowsRecord
from torchmagic.rules.curves.overfitting import MIN_RISE, overfitting

SUBJECT = ("cross_entropy(test)",)
TRAINS = [2.0 - 0.02 * step for step in range(80)]
TURNS = [1.5, 1.0, 0.8, 0.9, 1.0, 1.1, 1.2]


def found(history, evaluations=TURNS, *, trains=TRAINS, trained_on=False, also_trained=True):
    history.losses(trains).series("eval_loss", evaluations, SUBJECT, steps=range(10, 80, 10))
    history.run.records.append(
        EvaluationRecord(
            model="net",
            step=10,
            loader="test",
            num_batches=2,
            num_losses=2,
            training=False,
            grad_enabled=False,
            recorded_graph=False,
            awake=(),
            loss_names=SUBJECT,
            also_trained=also_trained,
            trained_on=trained_on,
            place=None,
        )
    )
    return list(overfitting(history.run))


def test_an_evaluation_loss_that_turns_while_training_falls_is_told_mildly(history):
    assert MIN_RISE == 0.2
    (finding,) = found(history)
    assert (finding.severity, finding.step) == ("info", 30)


@pytest.mark.parametrize("last", [0.95, 0.9])
def test_a_rise_of_less_than_a_fifth_is_silent(history, last):
    assert found(history, [*TURNS[:-1], last]) == []


def test_a_single_bad_evaluation_is_silent(history):
    assert found(history, [1.5, 1.2, 1.1, 1.0, 0.9, 0.8, 1.2]) == []


def test_a_training_loss_that_rises_too_is_another_matter(history):
    assert found(history, trains=[1.0 + 0.01 * step for step in range(80)]) == []


def test_an_evaluation_of_the_training_data_is_silent(history):
    assert found(history, trained_on=True) == []


def test_three_evaluations_are_too_few(history):
    assert found(history, [0.8, 1.0, 1.2]) == []


def test_losses_of_nearly_nothing_may_double(history):
    assert found(history, [1.0, 0.1, 0.004, 0.005, 0.006, 0.007, 0.008]) == []


@pytest.mark.parametrize("trained", [True, False])
def test_weights_that_nobody_trains_are_not_said_to_be_kept(history, trained):
    history.run.records.append(
        StoppingRecord(
            subject=SUBJECT[0], num_passes=7, best=0.8, best_step=30, since_best=4, steps_since_best=50, holds_best=True
        )
    )
    (finding,) = found(history, also_trained=trained)
    assert ("the best weights are kept" in finding.fix) == trained


@pytest.mark.parametrize(("model", "equal", "told"), [("net", 60, 0), ("net", 40, 1), ("other", 60, 1)])
def test_an_evaluation_of_rows_that_were_trained_on_is_silent(history, model, equal, told):
    history.run.records.append(
        SharedRowsRecord(
            model=model, loader="test", num_rows=100, num_equal=equal, num_known=400, num_training=400, coarse=False,
            covered=equal / 400, place=None,
        )
    )  # fmt: skip
    assert len(found(history)) == told
