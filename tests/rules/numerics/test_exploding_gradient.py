"""This file tests the rule on gradients that explode, on series written by hand."""

import math
from types import SimpleNamespace

import pytest

from torchmagic.records.clipping import ClippingLineRecord
from torchmagic.records.loop import HandStepsRecord
from torchmagic.records.loss import BackwardRecord, LossRecord
from torchmagic.records.model import ModelRecord
from torchmagic.records.nonfinite import Birth, NonfiniteRecord
from torchmagic.records.objective import GroupRecord
from torchmagic.records.place import Place
from torchmagic.records.precision import Deed, ScaledGradientsRecord
from torchmagic.rules.numerics.exploding_gradient import LARGE, RISING_STEPS, TIMES_MEDIAN, exploding_gradient
from torchmagic.session.run import Run

NAN = math.nan
CALM = [1.0] * 12


def found(norms, losses=(), *, before_clip=(), reduction="mean", born=None, others=(), skipped=()):
    run = Run()
    run.records += others
    run.records.append(BackwardRecord(name="loss", place=Place(file="<cell>", line=4, source="loss.backward()")))
    run.records.append(
        LossRecord(name="mse_loss", input_shape=(4,), target_shape=(4,), reduction=reduction, place=None)
    )
    for step, norm in enumerate(norms):
        run.frame("grad_norm", ("",)).append(step, (norm,))
        run.frame("grad_norm", ("net.0.weight", "net.2.weight")).append(step, (0.1 * norm, 0.9 * norm))
    for step, norm in enumerate(before_clip):
        run.frame("grad_norm_before_clip", ("",)).append(step, (norm,))
    for step, loss in enumerate(losses):
        run.frame("loss", ("loss",)).append(step, (loss,))
    for number, step in enumerate(skipped, start=1):
        run.frame("skipped_steps", ("",)).append(step, (number,))
    if born is not None:
        run.records.append(NonfiniteRecord(birth=born[0], step=born[1]))
    return list(exploding_gradient(run))


def test_a_norm_a_thousand_times_the_median_is_enough():
    assert (LARGE, TIMES_MEDIAN) == (1e3, 1e3)
    norms = [2.0] * 12
    norms[7] = 2000.0
    (finding,) = found(norms)
    assert (finding.step, finding.line) == (7, 4)
    assert finding.parameter == "net.2.weight"
    assert finding.module == "net.2"
    assert finding.evidence["gradient norm"] == 2000.0


def test_a_norm_just_below_a_thousand_times_the_median_is_silent():
    assert found([2.0] * 11 + [1999.0]) == []


def test_a_norm_that_is_not_above_a_thousand_is_silent_whatever_the_median():
    assert found([1e-6] * 11 + [1000.0]) == []
    assert len(found([1e-6] * 11 + [1001.0])) == 1


def test_large_norms_that_were_large_from_the_start_are_silent():
    assert found([5e4] * 12, [9.0] * 12) == []


def test_norms_that_rise_with_the_loss_for_three_steps_are_enough():
    assert RISING_STEPS == 3
    (finding,) = found([200.0, 500.0, 800.0, 1001.0], [1.0, 2.0, 3.0, 4.0])
    assert finding.step == 3


def test_norms_that_are_large_from_the_first_step_to_the_last_are_silent_though_some_rise_by_chance():
    large = [1.9e6, 1.7e6, 1.8e6, 1.95e6, 1.96e6, 1.8e6, 1.9e6, 2.3e6, 2.1e6]
    flat = [1.61e11, 1.5e11, 1.6e11, 1.64e11, 1.65e11, 1.6e11, 1.61e11, 1.66e11, 1.6e11]
    assert found(large, flat) == []
    (finding,) = found([*large, 2.5e6, 3.6e6, 4.4e6], [*flat, 1.7e11, 1.9e11, 2.5e11])
    assert finding.step == 11


def test_a_larger_next_loss_is_told_only_where_it_was_seen():
    norms = [200.0, 500.0, 800.0, 1001.0]
    (finding,) = found(norms, [1.0, 2.0, 3.0, 4.0])
    assert finding.why == "Steps along such gradients throw the weights far away."
    (finding,) = found([*norms, 1500.0], [1.0, 2.0, 3.0, 4.0, 9.0])
    assert finding.why.endswith("; the next loss is larger still.")


def test_two_rising_steps_are_silent():
    assert found([500.0, 800.0, 1200.0], [1.0, 2.0, 3.0]) == []


def test_rising_norms_below_a_thousand_are_silent():
    assert found([1.0, 10.0, 100.0, 900.0, 1000.0], [1.0, 2.0, 3.0, 4.0, 5.0]) == []


def test_rising_norms_whose_loss_falls_are_silent():
    assert found([500.0, 1200.0, 1300.0, 1400.0, 1500.0], [5.0, 4.0, 3.0, 2.0, 1.0]) == []


def test_norms_that_go_up_and_down_are_silent():
    assert found([1500.0, 1200.0] * 6, [1.0, 2.0] * 6) == []


def test_norms_that_rise_to_less_than_they_began_with_are_silent():
    norms, losses = [5.5e4, 4e3, 9e3, 2e4, 4e4, 1e4], [8e3, 3e3, 3.1e3, 4e3, 5.6e3, 3e3]
    assert found(norms, losses) == []
    assert found([*norms[:-1], 6e4], [*losses[:-1], 9e3])[0].step == 5


def test_a_loss_that_becomes_nan_counts_as_rising():
    assert len(found([500.0, 900.0, 1500.0, 3000.0], [1.0, 2.0, NAN, NAN])) == 1


def test_clipped_gradients_are_judged_by_their_norm_before_clipping():
    assert found([1.0] * 12, before_clip=[2.0] * 12) == []
    (finding,) = found([1.0] * 12, before_clip=[2.0] * 11 + [9e4])
    assert finding.step == 11
    assert finding.evidence["gradient norm"] == 9e4


def test_a_summed_loss_that_falls_is_silent():
    norms = [1.0] * 11 + [5e4]
    assert found(norms, [9.0 - 0.5 * step for step in range(12)], reduction="sum") == []
    assert len(found(norms, [9.0 + step for step in range(12)], reduction="sum")) == 1


def test_what_comes_after_the_first_nan_is_not_judged():
    assert found([1.0] * 8 + [NAN] * 4, [1.0] * 8 + [NAN] * 4, born=(Birth.GRADIENT, 8)) == []
    assert found([1.0] * 8 + [9e9] * 4, born=(Birth.FORWARD, 8)) == []


def test_a_short_rise_until_the_run_breaks_by_itself_is_enough():
    norms, losses = [900.0, 1e4, 1e6], [1.0, 10.0, 100.0]
    assert len(found(norms, losses, born=(Birth.FORWARD, 3))) == 1


def test_a_short_rise_until_a_bad_batch_comes_is_silent():
    assert found([900.0, 1e4, 1e6], [1.0, 10.0, 100.0], born=(Birth.INPUT, 3)) == []


@pytest.mark.parametrize("norms", [[], [1.0], [NAN], [NAN] * 12, [math.inf]])
def test_odd_series_do_not_disturb(norms):
    assert found(norms) == []


def test_an_infinite_norm_among_calm_ones_is_an_explosion():
    (finding,) = found([*CALM, math.inf])
    assert finding.step == 12


def test_an_infinite_norm_of_a_step_that_a_scaler_left_out_is_none():
    assert found([*CALM, math.inf, 1.0], skipped=(12,)) == []


@pytest.mark.parametrize(
    ("norms", "number"), [([1.2, 1.21, 1.22, 1.23, math.inf], 0), ([1.0, 4.0, 9.0, 20.0, math.inf], 1)]
)
def test_an_infinite_norm_after_a_rise_is_an_explosion_only_where_norms_grew(norms, number):
    assert len(found(norms, [1.0, 1.1, 1.2, 1.3, 1.4])) == number


def test_the_gradient_of_what_broke_is_no_growth():
    assert found([2.0, math.inf], [1.0, 9.0], born=(Birth.FORWARD, 2)) == []


def test_norms_that_were_clipped_with_the_scale_of_a_scaler_in_them_are_not_judged():
    rising = [float(step + 1) for step in range(6)]
    scaled = [65536.0 * norm for norm in rising]
    clip = ScaledGradientsRecord(step=0, deed=Deed.CLIP, scale=65536.0, place=None)
    assert len(found(rising, rising, before_clip=scaled)) == 1
    assert found(rising, rising, before_clip=scaled, others=(clip,)) == []


@pytest.mark.parametrize(
    ("norm", "birth", "number"), [(1e6, Birth.FORWARD, 1), (10.0, Birth.FORWARD, 0), (1e6, Birth.INPUT, 0)]
)
def test_a_large_norm_after_which_the_run_breaks_at_once_is_enough(norm, birth, number):
    assert len(found([norm, NAN, NAN, NAN], [1e5, NAN, NAN, NAN], born=(birth, 1))) == number


def test_the_model_whose_gradients_are_large_is_clipped_by_its_own_name():
    facts = {"num_parameters": 9, "num_trainable": 9, "num_bytes": 36}
    models = [ModelRecord(name=name, class_name=kind, **facts) for name, kind in (("D", "Sequential"), ("net", "Net"))]
    norms = [200.0, 500.0, 800.0, 1001.0]
    assert "clip_grad_norm_(net.parameters(), 1.0)" in found(norms, [1.0, 2.0, 3.0, 4.0], others=models)[0].fix
    nameless = [ModelRecord(name="Net", class_name="Net", **facts)]
    assert "clip_grad_norm_(model.parameters(), 1.0)" in found(norms, [1.0, 2.0, 3.0, 4.0], others=nameless)[0].fix


@pytest.mark.parametrize("clips", [True, False])
def test_what_clips_already_is_not_to_clip(clips):
    others = [ClippingLineRecord(step=0, place=None)] if clips else []
    (finding,) = found([*CALM, TIMES_MEDIAN + 1.0], others=others)
    assert ("clip_grad_norm_" in finding.fix) is not clips
    assert "lr" in finding.fix or "learning rate" in finding.fix


def trained(optimizer, step, *parameters):
    return GroupRecord(
        optimizer=optimizer,
        class_name="Adam",
        subject=optimizer,
        parameters=parameters,
        num_elements=4,
        lr=0.1,
        weight_decay=0.0,
        decoupled=False,
        maximize=False,
        step=step,
        built=None,
    )


def backward(line, step):
    return BackwardRecord(name="loss", place=Place(file="<cell>", line=line, source="loss.backward()"), step=step)


@pytest.mark.parametrize(
    ("parameters", "number"), [(("b.weight",), 0), (("a.weight",), 1), (("a.weight", "b.weight"), 1)]
)
def test_gradients_of_the_next_training_are_of_their_own_size(parameters, number):
    others = [trained("first", 0, "a.weight"), trained("second", 12, *parameters)]
    assert len(found([*CALM, *[2e3] * 8], [1.0] * 20, others=others)) == number


def test_an_explosion_in_the_next_training_is_told_with_its_line():
    others = [trained("first", 0, "a.weight"), trained("second", 12, "b.weight"), backward(9, 12), backward(11, 12)]
    norms = [*CALM, 500.0, 800.0, 900.0, 1001.0]
    (finding,) = found(norms, [*[1.0] * 12, 1.0, 2.0, 3.0, 4.0], others=others)
    assert (finding.step, finding.line) == (15, 9)
    (finding,) = found(
        [*CALM[:6], 2e3, *CALM[6:]], others=[*others[:1], trained("second", 13, "b.weight"), backward(9, 13)]
    )
    assert (finding.step, finding.line) == (6, 4)


def test_folds_of_one_name_are_trainings_of_their_own():
    facts = {"num_parameters": 9, "num_trainable": 9, "num_bytes": 36}
    models = [ModelRecord(name="net", class_name="Net", **facts) for _ in range(2)]
    folds = [trained("opt", 0, "net.weight"), trained("opt", 12, "net.weight")]
    assert found([*CALM, *[2e3] * 8], [1.0] * 20, others=[*models, *folds]) == []
    assert len(found([*CALM, *[2e3] * 8], [1.0] * 20, others=[*models[:1], *folds])) == 1


def test_optimizers_that_take_turns_are_judged_one_by_one():
    run = Run()
    for step in range(24):
        norm = (1.0, 5e3)[step % 4 == 0]
        run.frame("grad_norm", ("",)).append(step, (norm,))
        run.frame("loss", ("loss",)).append(step, (1.0,))
    assert len(list(exploding_gradient(run))) == 1
    for step in range(24):
        run.frame("optimizer_grad_norm", (("critic",), ("actor",))[step % 4 == 0]).append(step, (1.0,))
    assert list(exploding_gradient(run)) == []


@pytest.mark.parametrize(("after", "number"), [([8.0] * 5, 0), ([9.5] * 5, 1), ([8.0] * 4 + [NAN], 1), ([], 1)])
def test_a_rise_after_which_the_loss_goes_on_as_well_as_before_is_one_of_batches(after, number):
    norms = [2e3, 3e3, 2.5e3, 3e3, 2e3, 1.5e3, 2.6e3, 3.4e3, 4.6e3, *[3e3] * 5]
    losses = [9.0, 9.2, 9.1, 9.0, 8.9, 3.0, 5.0, 7.0, 9.4, *after]
    assert len(found(norms[: len(losses)], losses)) == number


def test_all_that_an_optimizer_holds_is_clipped():
    facts = {"num_parameters": 9, "num_trainable": 9, "num_bytes": 36}
    others = [ModelRecord(name=name, class_name="Net", **facts) for name in ("net", "head")]
    others.append(trained("opt", 0, "net.0.weight", "net.2.weight", "head.weight"))
    (finding,) = found([*CALM, TIMES_MEDIAN + 1.0], others=others)
    owner = finding.fix.removeprefix("torch.nn.utils.clip_grad_norm_(").partition(", 1.0)")[0]
    optimizer = SimpleNamespace(param_groups=[{"params": [1, 2]}, {"params": [3]}])
    assert eval(owner, {"opt": optimizer}) == [1, 2, 3]  # noqa: S307 - that it can be typed as it is
    for nothing_more in (
        trained("opt", 0, "net.0.weight", "net.2.weight"),
        trained("Adam", 0, "net.0.weight", "net.2.weight", "head.weight"),  # which has no name
    ):
        others[2] = nothing_more
        (finding,) = found([*CALM, TIMES_MEDIAN + 1.0], others=others)
        assert "clip_grad_norm_(net.parameters(), 1.0)" in finding.fix


def test_each_training_is_judged_by_its_own_losses():
    others = [trained("first", 0, "a.weight"), trained("second", 12, "b.weight")]
    norms, losses = [*CALM, 500.0, 800.0, 900.0, 1001.0, 600.0], [*[1.0] * 12, 5.0, 6.0, 7.0, 8.0, 2.0]
    assert found(norms, losses, reduction="sum", others=others) == []
    assert len(found(norms, losses, others=others)) == 1


@pytest.mark.parametrize(("begun", "number"), [(12, 0), (20, 1)])
def test_what_breaks_the_next_training_did_not_grow_in_the_one_before(begun, number):
    others = [trained("first", 0, "a.weight"), trained("second", begun, "b.weight")]
    norms, losses = [*[300.0] * 10, 900.0, 1500.0], [*[1.0] * 10, 2.0, 3.0]
    more = [1.0] * 4 if begun == 12 else []
    born = Birth.FORWARD, len(norms) + len(more)
    assert len(found([*norms, *more, NAN], [*losses, *more, NAN], born=born, others=others)) == number


def test_optimizers_that_step_in_turn_by_one_loss_are_not_taken_for_one_that_rises():
    run = Run()
    for step, norm in enumerate([2.0, 50.0, 400.0, 900.0, 2600.0] * 4):
        run.frame("grad_norm", ("",)).append(step, (norm,))
        if step % 5 == 0:
            run.frame("loss", ("loss",)).append(step, (1000.0 - step,))
    assert list(exploding_gradient(run)) == []


def test_a_norm_that_rises_with_losses_of_the_other_optimizer_between_is_found():
    run = Run()
    for step, norm in enumerate([100.0, 1.0, 300.0, 1.0, 900.0, 1.0, 2700.0, 1.0]):
        run.frame("grad_norm", ("",)).append(step, (norm,))
        run.frame("optimizer_grad_norm", (("critic",), ("actor",))[step % 2]).append(step, (norm,))
        run.frame("loss", (("critic_loss",), ("actor_loss",))[step % 2]).append(
            step, (1.0 + step if norm > 1 else 1.0,)
        )
    (finding,) = exploding_gradient(run)
    assert finding.step == 6


@pytest.mark.parametrize(("after", "told"), [([0.5, 0.1, -0.2], 0), ([0.5, 0.1, 0.2], 1)])
def test_a_step_of_a_line_search_that_is_taken_back_is_silent(after, told):
    hand = HandStepsRecord(steps=12, parameters=("w",), descends=True)
    norms = [1.0, 1.3e4, *[1.0] * 10]
    losses = [-0.1, 34.0, *after, *[after[-1]] * 7]
    assert len(found(norms, losses, others=[hand])) == told
    assert len(found(norms, losses)) == 1


def test_a_first_step_by_hand_whose_norm_was_not_seen_counts_as_where_the_search_began():
    run = Run()
    run.records.append(HandStepsRecord(steps=12, parameters=("w",), descends=True))
    for step in range(12):
        run.frame("loss", ("loss",)).append(step, ((-0.1, 34.0, -0.2)[min(step, 2)],))
        if step:
            run.frame("grad_norm", ("",)).append(step, ((1.3e4, 1.0)[step > 1],))
    assert list(exploding_gradient(run)) == []
