"""This file tests the rule on losses that do not fall, on curves written by hand."""

import math

import numpy as np
import pytest

from torchmagic.analyses.loss_curve import loss_curve
from torchmagic.records.evaluation import EvaluationRecord
from torchmagic.records.loss import BackwardRecord
from torchmagic.records.notebook import OptimizerStateRecord
from torchmagic.records.place import Place
from torchmagic.records.protocol import UnclearedGradientsRecord
from torchmagic.rules.curves.loss_not_decreasing import MIN_STEPS, loss_not_decreasing
from torchmagic.rules.judgement import judge

FLAT = [1.1] * 40


def found(history, losses=FLAT, *, chance=1.0986, **objective):
    history.losses(losses, **objective).series("chance_loss", [chance], ("loss",))
    return list(loss_not_decreasing(history.run))


def test_a_flat_loss_at_chance_level_is_told_at_the_backward(history):
    (finding,) = found(history)
    assert (finding.severity, finding.line) == ("warning", 9)


def test_noise_does_not_hide_it(history):
    draw = np.random.default_rng(0)
    assert len(found(history, [1.1 + draw.normal(0, 0.05) for _ in range(200)])) == 1


def test_a_loss_that_falls_slowly_is_silent(history):
    assert found(history, [1.1 - 0.002 * step for step in range(40)]) == []


def test_a_loss_that_has_just_begun_to_fall_is_silent(history):
    draw = np.random.default_rng(2)
    assert found(history, [1.1 - 0.0001 * step + draw.normal(0, 0.006) for step in range(100)]) == []


def test_noise_alone_is_no_fall(history):
    for seed in range(20):
        draw = np.random.default_rng(seed)
        assert not loss_curve(type(history)().losses(draw.normal(1.1, 0.02, 100).tolist()).run, "loss").still_falls()


def test_labels_that_are_learned_by_heart_are_told(history):
    losses = [1.1 - 0.03 * (1 - math.exp(-step / 120)) for step in range(80)]
    assert len(found(history, losses)) == 1
    assert loss_curve(history.run, "loss").still_falls()


def test_a_loss_that_settles_near_chance_is_told(history):
    assert len(found(history, [1.1 + 0.01 * math.exp(-step / 10) for step in range(100)])) == 1


def test_models_that_are_trained_one_after_the_other_are_silent(history):
    history.group().group(step=20, parameters=("other.weight",))
    assert found(history) == []


def test_a_slow_fall_under_strong_noise_is_silent(history):
    draw = np.random.default_rng(1)
    assert found(history, [1.3 - 0.002 * step + draw.normal(0, 0.2) for step in range(60)]) == []


def test_a_loss_that_fell_and_rose_again_is_silent(history):
    assert found(history, [1.1] * 10 + [0.8] * 20 + [1.2] * 10) == []


def test_twenty_nine_steps_are_too_few(history):
    assert MIN_STEPS == 30
    assert found(history, FLAT[:29]) == []


def test_a_loss_below_chance_has_learned_something_before(history):
    assert found(history, [0.9] * 40) == []


def test_where_chance_is_not_known_it_is_silent(history):
    assert found(history, chance=math.nan) == []


def test_training_that_goes_on_is_silent(history):
    history.run.records.append(OptimizerStateRecord(optimizer="opt", steps=300, keys=("exp_avg",)))
    assert found(history) == []


@pytest.mark.parametrize(
    "objective",
    [{"log_prob": True}, {"weighted": True}, {"criteria": ()}, {"mixed": True}, {"altered": True}, {"sign": -1}],
)
def test_what_is_no_single_plain_objective_is_silent(history, objective):
    assert found(history, **objective) == []


def test_it_is_dropped_where_anything_more_specific_is_true(history):
    def fail(rule, error):
        raise AssertionError(rule) from error

    history.losses(FLAT).series("chance_loss", [1.0986], ("loss",))
    assert "loss-not-decreasing" in [finding.rule for finding in judge(history.run, fail)]
    history.run.records += [
        UnclearedGradientsRecord(optimizer="opt", step=step, num_parameters=1, total=1, streak=step, backward=None)
        for step in range(1, 5)
    ]
    assert "loss-not-decreasing" not in [finding.rule for finding in judge(history.run, fail)]


def test_a_loss_that_breaks_is_another_rules_matter(history):
    assert found(history, [*FLAT, math.nan]) == []


def test_thirty_steps_are_enough_and_backward_passes_are_no_steps(history):
    assert len(found(history, [1.1] * 30)) == 1
    few = type(history)()
    few.losses(FLAT).series("chance_loss", [1.0986], ("loss",))
    few.run.steps = 29
    assert list(loss_not_decreasing(few.run)) == []


def test_two_losses_are_silent(history):
    place = Place(file="<cell>", line=20, source="other.backward()")
    history.run.records.append(BackwardRecord(name="other", place=place))
    history.objective(loss="other", place=place)
    assert found(history) == []


def test_two_optimizers_with_losses_of_their_own_are_silent(history):
    history.group().group(optimizer="other", subject="other", step=1)
    history.rates([0.1] * 40).rates([0.1] * 40, "other")
    assert found(history) == []


def test_a_search_for_a_rate_is_silent(history):
    history.group().rates([1e-7 * 1.4**step for step in range(40)])
    assert found(history) == []


def evaluated(history, values, *, trained_on=False):
    name = "cross_entropy(test)"
    history.series("eval_loss", values, (name,), steps=range(8, 40, 8)[: len(values)])
    history.run.records.append(
        EvaluationRecord(
            model="net", step=8, loader="test", num_batches=1, num_losses=1, training=False, grad_enabled=False,
            recorded_graph=False, awake=(), loss_names=(name,), also_trained=True, trained_on=trained_on, place=None,
        )
    )  # fmt: skip


def test_an_evaluation_that_falls_at_each_pass_shows_that_something_is_learned(history):
    evaluated(history, [1.104, 1.103, 1.102, 1.101])
    assert found(history) == []


@pytest.mark.parametrize(
    ("values", "trained_on"), [([1.1, 1.2, 1.1, 1.0], False), ([1.1, 1.0], False), ([1.104, 1.103, 1.102, 1.101], True)]
)
def test_other_evaluations_show_nothing(history, values, trained_on):
    evaluated(history, values, trained_on=trained_on)
    assert len(found(history)) == 1
