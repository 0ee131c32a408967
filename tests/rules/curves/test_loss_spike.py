"""This file tests the rule on spikes, on curves written by hand."""

import numpy as np
import pytest

from torchmagic.records.clipping import ClippingLineRecord
from torchmagic.rules.curves.loss_spike import loss_spike

DRAW = np.random.default_rng(0)
CALM = [1.0 + DRAW.normal(0, 0.05) for _ in range(60)]


def found(history, losses, **objective):
    return list(loss_spike(history.losses(losses, **objective).run))


def test_one_loss_far_above_those_before_is_told_mildly(history):
    (finding,) = found(history, [*CALM, 9.0, *CALM])
    assert (finding.severity, finding.step) == ("info", 60)


def test_a_calm_curve_is_silent(history):
    assert found(history, CALM) == []


def test_a_loss_of_less_than_three_times_the_usual_is_silent(history):
    assert found(history, [*CALM, 2.5, *CALM]) == []


def test_a_noisy_curve_may_jump(history):
    assert found(history, [abs(DRAW.normal(1, 0.8)) for _ in range(60)] + [4.0]) == []


def test_what_is_no_single_objective_is_silent(history):
    assert found(history, [*CALM, 9.0], log_prob=True) == []


def test_where_another_models_training_begins_is_no_spike(history):
    history.group().group(step=60, parameters=("student.weight",))
    assert found(history, [*CALM, *(9.0 - 0.1 * step for step in range(60))]) == []


def test_a_loop_without_an_optimizer_has_no_step_to_name(history):
    history.losses([*CALM, 9.0, *CALM]).run.steps = 0
    assert list(loss_spike(history.run)) == []


@pytest.mark.parametrize("clips", [True, False])
def test_what_clips_already_is_not_to_clip(history, clips):
    if clips:
        history.run.records.append(ClippingLineRecord(step=0, place=None))
    (finding,) = found(history, [*CALM, 9.0, *CALM])
    assert ("clip_grad_norm_" in finding.fix) is not clips


def test_a_rate_that_is_raised_until_the_loss_breaks_is_a_search(history):
    history.group().rates([1e-5 * 1.1**step for step in range(len(CALM) + 1)])
    assert found(history, [*CALM, 9.0]) == []


@pytest.mark.parametrize(("rows", "told"), [(1, 0), (4, 1), (16, 1)])
def test_a_mean_over_few_samples_lies_further_off(history, rows, told):
    losses = [*CALM, 6.0, *CALM]
    history.series("loss_rows", [64, rows, 64], ("loss",), steps=[0, len(CALM), len(CALM) + 1])
    assert len(found(history, losses)) == told


@pytest.mark.parametrize(("moved", "told"), [(60, 0), (41, 0), (40, 1), (61, 1)])
def test_a_loss_to_the_answers_of_a_network_that_was_changed_meanwhile_is_another_one(history, moved, told):
    history.series("answers_moved", [1.0], ("target",), steps=[moved])
    assert len(found(history, [*CALM, 9.0, *CALM])) == told
