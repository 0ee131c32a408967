"""This file tests the rule on updates that are too small, on courses written by hand."""

import math

import pytest

from torchmagic.records.connection import GradientFlowRecord
from torchmagic.rules.learning_rate.update_too_small import MAX_RATIO, update_too_small

FLAT = [1.0] * 30


def found(history, losses=FLAT, ratios=None, *, norms=None):
    history.losses(losses).group().updates(ratios or [5e-7] * len(losses), norms=norms)
    return list(update_too_small(history.run))


def test_steps_below_a_millionth_and_a_flat_loss_are_told_at_the_optimizer(history):
    assert MAX_RATIO == 1e-6
    (finding,) = found(history)
    assert (finding.severity, finding.line) == ("warning", 2)


def test_one_larger_step_is_enough_to_be_silent(history):
    assert found(history, ratios=[5e-7] * 29 + [1.1e-6]) == []


def test_a_loss_that_the_steps_move_by_a_hundredth_is_silent(history):
    falling = [1.0 - 0.0005 * step for step in range(30)]
    assert found(history, falling, norms=[4e3] * 30) == []


def test_a_loss_that_batches_move_and_not_the_steps_is_told(history):
    noisy = [1.0 + 0.3 * (-1) ** (step // 7) for step in range(30)]
    (finding,) = found(history, noisy)
    assert finding.evidence["change that the steps explain"] < 1e-3


def test_nineteen_steps_are_too_few(history):
    assert found(history, FLAT[:19]) == []


@pytest.mark.parametrize("norms", [[1e-9] * 30, [0.0] * 30])
def test_gradients_that_ask_for_nothing_are_not_the_rates_fault(history, norms):
    assert found(history, norms=norms) == []


def test_a_loss_of_nearly_zero_has_converged(history):
    assert found(history, [1e-8] * 30) == []


def test_a_loss_that_breaks_is_silent(history):
    assert found(history, [*FLAT, math.nan]) == []


def test_every_group_must_stand_still(history):
    history.group(subject="opt[1]", parameters=("net.weight",))
    assert len(found(history)) == 1


def test_without_looks_at_updates_or_with_two_losses_it_is_silent(history):
    history.losses(FLAT).group()
    assert list(update_too_small(history.run)) == []
    history.updates([5e-7] * 30).series("loss", FLAT, ("other",))
    assert list(update_too_small(history.run)) == []


def test_a_norm_that_is_none_is_left_out(history):
    assert len(found(history, norms=[math.nan] * 14 + [1.0] * 16)) == 1


def test_gradients_that_clipping_leaves_nothing_of_ask_for_something_and_the_bound_is_named(history):
    history.series("grad_norm_before_clip", [0.35] * 30)
    (finding,) = found(history, ratios=[1e-7] * 30, norms=[1e-6] * 30)
    assert "Clipping leaves 1e-06 of a norm of 0.3" in finding.why
    assert finding.fix == "torch.nn.utils.clip_grad_norm_(model.parameters(), 0.3)"


def test_gradients_that_vanish_before_they_are_clipped_are_not_the_bounds_fault(history):
    history.series("grad_norm_before_clip", [1e-6] * 30)
    assert found(history, norms=[1e-7] * 30) == []


def test_one_norm_for_batches_that_differ_was_set_by_hand(history):
    noisy = [1.0 + 0.3 * (-1) ** step for step in range(30)]
    (finding,) = found(history, noisy, [2e-8] * 30, norms=[1e-7] * 30)
    assert "a line scales them to that" in finding.why


def test_norms_that_differ_as_their_batches_do_were_not_set(history):
    noisy = [1.0 + 0.3 * (-1) ** step for step in range(30)]
    assert found(history, noisy, norms=[1e-7 * loss for loss in noisy]) == []


def test_a_rate_that_is_too_small_is_to_blame_however_much_is_clipped(history):
    history.series("grad_norm_before_clip", [2.0] * 30)
    (finding,) = found(history, ratios=[1e-9] * 30)
    assert "the rate is not" in finding.why


def test_one_norm_that_moves_the_loss_all_the_same_is_silent(history):
    falling = [1.0 - 0.02 * step for step in range(30)]
    assert found(history, falling, norms=[1e-7] * 30) == []


TINY = [1e-7] * 30


def test_a_criterion_that_was_divided_far_too_often_is_told_and_the_factor_named(history):
    history.series("criterion", [0.2], ("loss",))
    history.losses(TINY, scale=5e-7).group().updates([1e-8] * 30, norms=[1e-8] * 30)
    (finding,) = update_too_small(history.run)
    assert finding.fix == "loss = criterion(output, target)  # without the factor 5e-07: the mean is taken already"


@pytest.mark.parametrize(
    ("criterion", "objective"),
    [
        ([1e-7], {"scale": 1.0}),
        ([4e-7], {"scale": 0.25}),
        ([0.2], {"scale": 5e-7, "altered": True}),
        ([0.2], {"scale": 5e-7, "mixed": True}),
        ([0.9], {"scale": 5e-7}),
        ([], {"scale": 5e-7}),
    ],
    ids=["plain", "a share", "a sum", "other terms", "another one", "by hand"],
)
def test_a_tiny_loss_that_may_have_converged_is_silent(history, criterion, objective):
    history.series("criterion", criterion, ("loss",))
    history.losses(TINY, **objective).group().updates([1e-8] * 30, norms=[1e-8] * 30)
    assert list(update_too_small(history.run)) == []


def test_an_optimizer_that_holds_another_model_is_not_the_rates_fault(history):
    stale = GradientFlowRecord(
        optimizer="opt",
        steps=30,
        num_trainable=2,
        num_received=0,
        frozen=(),
        num_frozen=0,
        groups=(),
        twin="net",
        num_backwards=30,
        place=None,
    )
    history.run.records.append(stale)
    assert found(history) == []
