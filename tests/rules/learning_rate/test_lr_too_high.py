"""This file tests the rule on learning rates that are too high, on courses written by hand."""

import math

import pytest

from torchmagic.records.loss import BackwardRecord
from torchmagic.records.nonfinite import Birth, Cause, NonfiniteRecord
from torchmagic.records.place import Place
from torchmagic.records.reach import ReachRecord
from torchmagic.rules.learning_rate.lr_too_high import lr_too_high

RISES = [1.0 + 0.1 * step for step in range(40)]
FALLS = [4.0 - 0.1 * step for step in range(40)]


def found(history, losses, ratios, *, norms=None, objective=None, **changes):
    history.losses(losses, **objective or {}).group(class_name="Adam", **changes)
    history.rates([0.1] * len(losses)).updates(ratios, norms=norms)
    return list(lr_too_high(history.run))


def test_a_loss_that_rises_under_large_steps_is_told_at_the_optimizer(history):
    (finding,) = found(history, RISES, [0.2] * 40)
    assert (finding.severity, finding.line) == ("warning", 2)
    assert "ends at" in finding.title


def test_one_jump_at_the_beginning_is_enough(history):
    assert len(found(history, RISES, [1.5] + [0.01] * 39)) == 1


def test_a_jump_late_in_a_calm_run_is_silent(history):
    assert found(history, RISES, [0.01] * 30 + [1.5] + [0.01] * 9) == []


def test_a_loss_that_breaks_is_told(history):
    assert "NaN" in found(history, [1.0, 9.0, math.nan, math.nan], [2.0] * 4)[0].title


def test_a_loss_that_climbs_on_its_way_by_more_than_its_start_is_told(history):
    losses = [1.0] + [8.0] * 10 + [0.9] * 29
    assert "climbs" in found(history, losses, [0.2] * 40)[0].title


def test_a_loss_that_falls_under_large_steps_is_silent(history):
    assert found(history, FALLS, [0.2] * 40) == []


def test_a_loss_that_rises_under_small_steps_is_silent(history):
    assert found(history, RISES, [0.09] * 40) == []


def test_large_steps_of_gradients_that_had_grown_first_are_silent(history):
    assert found(history, RISES, [0.01] * 5 + [2.0] * 35, norms=[1.0] * 5 + [1e6] * 35) == []


def test_plain_gradient_descent_is_judged_by_its_gradients_at_every_step(history):
    history.losses(RISES).group(class_name="SGD").rates([0.1] * 40).updates([0.02], norms=[1.0])
    history.series("grad_norm", [50.0] * 39, steps=range(1, 40))
    (finding,) = lr_too_high(history.run)
    assert finding.evidence["median update over weights"] == pytest.approx(0.5)


def test_bad_data_are_not_the_rate(history):
    history.run.records.append(NonfiniteRecord(birth=Birth.INPUT, step=1))
    assert found(history, [1.0, math.nan], [2.0] * 2) == []


@pytest.mark.parametrize("objective", [{"log_prob": True}, {"weighted": True}, {"criteria": ()}, {"sign": -1}])
def test_what_is_no_single_objective_is_silent(history, objective):
    assert found(history, RISES, [0.2] * 40, objective=objective) == []


def test_a_line_whose_loss_is_not_known_is_silent(history):
    other = Place(file="<cell>", line=20, source="other.backward()")
    history.run.records.append(BackwardRecord(name="other", place=other))
    assert found(history, RISES, [0.2] * 40) == []


def test_a_function_that_may_reverse_gradients_is_silent(history):
    history.run.records.append(
        ReachRecord(
            loss="loss",
            place=None,
            step=0,
            has_graph=True,
            num_nodes=9,
            num_reached=2,
            models=("net",),
            unreached=(),
            num_unreached=0,
            frozen=(),
            num_frozen=0,
            untouched=(),
            num_other_leaves=0,
            opaque=("ReverseBackward",),
        )
    )
    assert found(history, RISES, [0.2] * 40) == []


def test_two_optimizers_that_step_in_turn_on_losses_of_their_own_are_silent(history):
    history.group(optimizer="other", subject="other", step=1).rates([0.1] * 40, "other")
    assert found(history, RISES, [0.2] * 40) == []


def test_two_optimizers_that_step_on_the_same_loss_are_one_objective(history):
    history.losses([]).group(class_name="Adam").rates([0.1] * 80).group(optimizer="b", subject="b", step=1)
    history.rates([0.1] * 80, "b").updates([0.2] * 80)
    history.series("loss", RISES, ("loss",), steps=range(0, 80, 2))
    assert len(list(lr_too_high(history.run))) == 1


def test_a_rate_that_rises_until_the_loss_breaks_looks_for_its_limit(history):
    history.losses(RISES).group(class_name="Adam").rates([1e-4 * 1.3**step for step in range(40)])
    assert list(lr_too_high(history.updates([0.2] * 40).run)) == []


def test_a_sweep_over_rates_is_silent(history):
    history.group(step=20, lr=30.0)
    assert found(history, RISES, [0.2] * 40) == []


def test_weights_that_began_at_zero_are_silent(history):
    history.losses(RISES).group(class_name="Adam").rates([0.1] * 40).updates([0.2] * 40, lengths=[1e-4] * 40)
    assert list(lr_too_high(history.run)) == []


@pytest.mark.parametrize(
    ("losses", "number"), [([3.0, 2.9, math.nan, math.nan], 0), ([3.0, 90.0, math.nan, math.nan], 1)]
)
def test_an_operator_out_of_its_domain_is_no_rates_doing_unless_the_loss_had_risen(history, losses, number):
    history.run.records.append(NonfiniteRecord(birth=Birth.FORWARD, step=2, cause=Cause.EXP_OVERFLOW))
    assert len(found(history, losses, [2.0] * 4)) == number


def test_the_title_is_short(history):
    (finding,) = found(history, RISES, [12.0] * 40)
    assert (
        finding.title
        == "the loss ends at 4.8, above its start at 1; a step at rate 0.1 moves weights by 12 times their size"
    )


def course(history, losses, ratios):
    history.losses(losses).group(class_name="Adam").rates([0.1] * len(losses)).updates(ratios)
    return list(lr_too_high(history.run))


def test_the_first_ten_steps_do_not_count_for_the_usual_one(history):
    assert course(history, RISES[:16], [0.5] * 10 + [0.01] * 6) == []
    assert len(course(type(history)(), RISES[:16], [0.01] * 10 + [0.5] * 6)) == 1


def test_fewer_than_fifteen_losses_say_nothing(history):
    assert course(history, RISES[:14], [0.2] * 14) == []
    assert len(course(type(history)(), RISES[:15], [0.2] * 15)) == 1


def test_a_jump_in_the_first_quarter_of_a_long_run_is_early(history):
    losses = [1.0 + 0.05 * step for step in range(80)]
    assert len(course(history, losses, [0.01] * 15 + [1.5] + [0.01] * 64)) == 1
    assert course(type(history)(), losses, [0.01] * 25 + [1.5] + [0.01] * 54) == []


WARM_UP = [0.1 * (step + 1) / 5 for step in range(60)]


def warmed_up(history, values, **changes):
    history.losses(FALLS + FALLS[-1:] * 20).group(class_name="Adam", lr=values[0]).rates(values)
    history.schedule(**{"class_name": "LambdaLR", "base_lr": (0.1,)} | changes)
    return list(lr_too_high(history.run))


def test_a_warm_up_that_never_ends_is_told_at_the_schedule(history):
    (finding,) = warmed_up(history, WARM_UP)
    assert finding.title == "the warm-up of opt never ends: its rate reaches 1.2, 12 times 0.1"
    assert (finding.line, finding.severity) == (3, "warning")


@pytest.mark.parametrize(
    ("values", "changes"),
    [
        ([min(0.1, value) for value in WARM_UP], {}),
        ([0.1 * 1.1**step for step in range(60)], {}),
        (WARM_UP, {"class_name": "CyclicLR"}),
        ([0.02 + 0.1 * step / 60 for step in range(60)], {}),
        ([*WARM_UP[:30], *[WARM_UP[29]] * 30], {}),
        ([*WARM_UP[:30], *reversed(WARM_UP[:30])], {}),
        (WARM_UP, {"base_lr": (0.0,)}),
    ],
    ids=["ends", "search from its base", "cycle", "a little more", "ends higher", "decays", "no base"],
)
def test_a_warm_up_that_ends_and_a_search_for_the_rate_are_silent(history, values, changes):
    assert warmed_up(history, values, **changes) == []
