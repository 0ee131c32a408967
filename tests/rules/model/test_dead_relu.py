"""This file tests the rule on rectifiers that stay silent, on series written by hand."""

import math

import pytest

from torchmagic.records.finding import Severity
from torchmagic.records.nonfinite import Birth, NonfiniteRecord
from torchmagic.records.objective import GroupRecord
from torchmagic.rules.model.dead_relu import MIN_LOOKS, MIN_SHARE, dead_relu
from torchmagic.session.run import Run


def found(*shares, broke_at=None):
    run = Run()
    run.steps = len(shares)
    for step, share in enumerate(shares):
        run.frame("dead_share", ("net.1",)).append(step, (share,))
    if broke_at is not None:
        run.records.append(NonfiniteRecord(birth=Birth.FORWARD, step=broke_at))
    return list(dead_relu(run))


def test_half_the_units_silent_through_the_second_half_are_a_warning():
    assert (MIN_SHARE, MIN_LOOKS) == (0.5, 3)
    (finding,) = found(0.1, 0.2, 0.5, 0.5, 0.5, 0.5)
    assert (finding.severity, finding.module, finding.step) == (Severity.WARNING, "net.1", 2)
    assert "50%" in finding.title


def test_all_units_silent_are_an_error():
    (finding,) = found(0.9, 0.9, 0.9, 1.0, 1.0, 1.0)
    assert finding.severity is Severity.ERROR


def test_all_but_one_unit_silent_are_a_warning():
    (finding,) = found(0.9, 0.9, 0.9, 1.0, 1.0, 0.99)
    assert finding.severity is Severity.WARNING


@pytest.mark.parametrize("dip", range(3, 6))
def test_just_below_half_at_one_look_of_the_second_half_is_silent(dip):
    shares = [0.9] * 6
    shares[dip] = 0.499
    assert found(*shares) == []


def test_below_half_in_the_first_half_only_still_counts():
    assert len(found(0.0, 0.0, 0.0, 0.9, 0.9, 0.9)) == 1


def test_fewer_than_three_looks_in_the_second_half_are_silent():
    assert found(1.0, 1.0) == []
    assert found(1.0, 1.0, 1.0, 1.0, 1.0) == []


def test_silent_from_the_first_look_on_begins_there():
    (finding,) = found(*[0.8] * 6)
    assert finding.step == 0


def test_what_comes_after_the_first_nan_is_not_judged():
    assert found(0.1, 0.1, 0.1, 0.1, 1.0, 1.0, 1.0, 1.0, broke_at=4) == []


def test_each_module_is_judged_by_itself():
    run = Run()
    for step in range(4):
        run.frame("dead_share", ("net.1", "net.3")).append(step, (0.7, 0.2))
        run.frame("dead_share", ("head.1",)).append(step, (1.0,))
    assert [finding.module for finding in dead_relu(run)] == ["net.1", "head.1"]


@pytest.mark.parametrize("share", [math.nan, 0.0])
def test_odd_shares_do_not_disturb(share):
    assert found(*[share] * 6) == []


def with_losses(shares, losses, *, chance=None, phase=0):
    run = Run()
    run.steps = len(losses)
    run.frame("dead_share", ("net.1",))
    for step, share in enumerate(shares):
        run.frame("dead_share", ("net.1",)).append(len(losses) - len(shares) + step, (share,))
    for step, loss in enumerate(losses):
        run.frame("loss", ("loss",)).append(step, (loss,))
        if chance is not None:
            run.frame("chance_loss", ("loss",)).append(step, (chance,))
    run.records.append(
        GroupRecord(
            optimizer="opt",
            class_name="SGD",
            subject="opt",
            parameters=("net.0.weight",),
            num_elements=8,
            lr=0.1,
            weight_decay=0.0,
            decoupled=False,
            maximize=False,
            step=phase,
            built=None,
        )
    )
    return [finding.severity for finding in dead_relu(run)]


FALLING = [2.3 * 0.97**step for step in range(40)]


def test_of_two_phases_the_last_one_counts():
    phases = [0.02] * 20 + [2.3 * 0.94**step for step in range(20)]
    assert with_losses([0.6] * 5, phases, chance=2.3) == [Severity.WARNING]
    assert with_losses([0.6] * 5, phases, chance=2.3, phase=20) == [Severity.INFO]


def test_where_the_loss_falls_well_all_the_same_half_the_units_are_information():
    assert with_losses([0.6] * 5, FALLING) == [Severity.INFO]
    assert with_losses([0.6] * 5, FALLING, chance=2.3) == [Severity.INFO]
    assert with_losses([0.6] * 5, [2.3] * 40) == [Severity.WARNING]


def test_nine_units_in_ten_are_a_warning_whatever_the_loss_does():
    assert with_losses([0.9] * 5, FALLING) == [Severity.WARNING]
    assert with_losses([1.0] * 5, FALLING) == [Severity.ERROR]


def test_a_loss_that_falls_to_the_level_of_chance_only_learns_nothing():
    assert with_losses([0.6] * 5, [20.0] * 10 + [2.3] * 30, chance=2.3) == [Severity.WARNING]
