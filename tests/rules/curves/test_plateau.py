"""This file tests the rule on flat losses, on curves written by hand."""

import math

import pytest

from torchmagic.rules.curves.plateau import plateau

FALLS_AND_STAYS = [2.0 - 0.05 * step for step in range(20)] + [1.0] * 40


def found(history, losses, *, chance=None, rates=None):
    history.losses(losses)
    if chance is not None:
        history.series("chance_loss", [chance], ("loss",))
    if rates is not None:
        history.group().rates(rates)
    return list(plateau(history.run))


def test_a_flat_half_at_chance_level_is_told_mildly(history):
    (finding,) = found(history, FALLS_AND_STAYS, chance=1.0)
    assert (finding.severity, finding.line) == ("info", 9)


def test_a_flat_half_below_chance_may_be_the_floor(history):
    assert found(history, FALLS_AND_STAYS, chance=1.2) == []


def test_a_flat_half_with_a_rate_that_has_vanished_is_told(history):
    (finding,) = found(history, FALLS_AND_STAYS, rates=[0.1] * 20 + [1e-6] * 40)
    assert "learning rate" in finding.title
    assert finding.source == "loss.backward()"


@pytest.mark.parametrize(("stepped", "line"), [(True, 3), (False, 9)])
def test_a_rate_that_a_schedule_took_is_told_at_its_line(history, stepped, line):
    history.schedule(stepped=stepped)
    (finding,) = found(history, FALLS_AND_STAYS, rates=[0.1] * 20 + [1e-6] * 40)
    assert finding.line == line


def test_a_low_loss_with_a_rate_that_has_vanished_is_silent(history):
    losses = [2.0 - 0.1 * step for step in range(20)] + [0.05] * 40
    assert found(history, losses, rates=[0.1] * 20 + [1e-6] * 40) == []


def test_a_loss_that_still_falls_is_silent(history):
    assert found(history, [2.0 - 0.02 * step for step in range(60)], chance=0.5) == []


def test_a_loss_that_still_falls_a_little_is_silent(history):
    assert found(history, [2.3 - 0.0008 * step for step in range(80)], chance=2.3) == []


def test_a_loss_that_falls_ever_more_slowly_is_silent_until_it_settles(history):
    assert found(history, [2.3 - 0.08 * (1 - math.exp(-step / 60)) for step in range(80)], chance=2.3) == []
    assert len(found(type(history)(), [2.3 - 0.08 * (1 - math.exp(-step / 12)) for step in range(80)], chance=2.3)) == 1


def test_a_noisy_loss_has_a_higher_threshold_and_tells_it(history):
    (finding,) = found(history, [2.3 + 0.4 * (-1) ** step - 0.0015 * (step > 45) for step in range(60)], chance=2.3)
    assert finding.evidence["change over the second half"] < finding.evidence["threshold"]
    assert finding.evidence["threshold"] > 0.01


def test_the_losses_of_two_models_one_after_the_other_are_no_plateau(history):
    history.group().group(step=30, parameters=("other.weight",))
    assert found(history, FALLS_AND_STAYS, chance=1.0) == []


def test_a_short_run_is_silent(history):
    assert found(history, [1.0] * 29, chance=1.0) == []


def test_a_loss_that_breaks_is_silent(history):
    assert found(history, [*FALLS_AND_STAYS, math.nan], chance=1.0) == []


@pytest.mark.parametrize("objective", [{"criteria": ()}, {"altered": True}, {"mixed": True}])
def test_where_the_loss_is_no_plain_criterion_chance_says_nothing(history, objective):
    history.losses(FALLS_AND_STAYS, **objective).series("chance_loss", [1.0], ("loss",))
    assert list(plateau(history.run)) == []


def test_without_a_level_of_chance_it_is_silent(history):
    assert found(history, FALLS_AND_STAYS) == []
    assert found(history, FALLS_AND_STAYS, chance=0.0) == []


def test_thirty_steps_are_enough(history):
    assert len(found(history, [1.0] * 30, chance=1.0)) == 1


def test_two_losses_are_silent(history):
    history.series("loss", [1.0] * 40, ("other",))
    assert found(history, FALLS_AND_STAYS, chance=1.0) == []


def test_a_fall_over_the_second_half_is_no_plateau_however_far_the_first_half_fell(history):
    losses = [1e17 * 0.7**step for step in range(30)] + [1.6e13 * 0.8**step for step in range(30)]
    assert found(history, losses, chance=0.46) == []


def test_noise_of_the_second_half_hides_no_large_change(history):
    losses = [2.0] * 30 + [9.0 if step % 5 == 0 else 2.0 for step in range(15)] + [2.0] * 15
    assert found(history, losses, chance=1.9) == []
