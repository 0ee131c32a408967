"""This file tests the rules on loss scaling and half precision, on records written by hand."""

import math

import pytest

from torchmagic.records.finding import Severity
from torchmagic.records.place import Place
from torchmagic.records.precision import (
    AutocastRecord,
    Deed,
    GradScalerRecord,
    ScaledGradientsRecord,
    ScalerUseRecord,
    SkippedStepRecord,
)
from torchmagic.rules.numerics.amp_overflow_skips import amp_overflow_skips
from torchmagic.rules.numerics.clip_before_unscale import clip_before_unscale
from torchmagic.rules.numerics.fp16_headroom import fp16_headroom
from torchmagic.rules.numerics.unscaled_step import unscaled_step
from torchmagic.session.run import Run


def scaled(deed, scale=1024.0, line="opt.step()", source=""):
    run = Run(source=source)
    place = Place(file="<cell>", line=6, source=line)
    run.records.append(ScaledGradientsRecord(step=0, deed=deed, scale=scale, place=place))
    return {rule.id: list(rule(run)) for rule in (clip_before_unscale, unscaled_step)}


@pytest.mark.parametrize(("deed", "rule"), [(Deed.CLIP, "clip-before-unscale"), (Deed.STEP, "unscaled-step")])
def test_each_deed_has_its_rule_at_its_line(deed, rule):
    found = scaled(deed)
    assert {name for name, findings in found.items() if findings} == {rule}
    (finding,) = found[rule]
    assert (finding.severity, finding.line) == (Severity.ERROR, 6)


@pytest.mark.parametrize("deed", list(Deed))
@pytest.mark.parametrize(("scale", "found"), [(1.0, 0), (0.5, 0), (2.0, 1), (math.nan, 1)])
def test_a_scale_of_one_changes_nothing(deed, scale, found):
    assert sum(map(len, scaled(deed, scale).values())) == found


def test_a_limit_that_is_scaled_too_is_right():
    line = "clip_grad_norm_(net.parameters(), scaler.get_scale())"
    assert not any(scaled(Deed.CLIP, line=line).values())


@pytest.mark.parametrize(
    "source",
    ["for p in net.parameters():\n    p.grad /= scaler.get_scale()", "p.grad.data.mul_(1 / scale)"],
)
def test_gradients_unscaled_by_hand_are_right(source):
    assert not scaled(Deed.STEP, source=source)["unscaled-step"]


def test_a_second_optimizer_steps_before_the_update_that_there_is():
    step = "scaler.step(opt)"
    assert scaled(Deed.STEP)["unscaled-step"][0].fix == f"{step}; scaler.update()"
    source = "self.grow.scale(loss).backward()\nself.grow.step(mlp)\nopt.step()\nself.grow.update()"
    (finding,) = scaled(Deed.STEP, source=source)["unscaled-step"]
    assert finding.fix == "self.grow.step(opt)  # before the one self.grow.update()"
    others = source.replace("grow.update", "ema.update")
    assert scaled(Deed.STEP, source=others)["unscaled-step"][0].fix == "self.grow.step(opt); self.grow.update()"


def skipped(num_steps, at, *, taken, others=()):
    """Return the findings of a run whose scaler left out steps, each told with the steps taken before it."""
    run = Run()
    run.records.extend(others)
    run.steps = taken
    for number, step in enumerate(at):
        run.frame("skipped_steps", ("",)).append(step, (number + 1.0,))
        run.records.append(SkippedStepRecord(step=step, optimizer="opt", scale=2.0, place=None))
    use = dict.fromkeys(ScalerUseRecord.__dataclass_fields__, 0)
    run.records.append(ScalerUseRecord(**{**use, "num_steps": num_steps, "num_skipped": len(at)}))
    return list(amp_overflow_skips(run))


def test_more_than_thirty_percent_of_the_steps_are_a_warning():
    (finding,) = skipped(20, [1, 3, 5, 6, 7, 9, 12], taken=13)
    assert (finding.severity, finding.evidence["steps left out"]) == (Severity.WARNING, 7)


@pytest.mark.parametrize(("interval", "told"), [(1, True), (3, True), (4, False), (2000, False), (0, False)])
def test_a_scale_that_grows_at_nearly_each_step_is_to_grow_seldom(interval, told):
    scaler = GradScalerRecord(
        step=0,
        optimizer="opt",
        enabled=True,
        scale=2.0,
        growth_factor=2.0,
        backoff_factor=0.5,
        growth_interval=interval,
    )
    (finding,) = skipped(10, [1, 3, 5, 6, 7], taken=5, others=[scaler])
    assert ("growth_interval" in finding.fix) is told


def test_another_dtype_is_advised_only_where_it_is_another_one():
    facts = {"model": "net", "step": 0, "enabled": True, "device_type": "cpu", "inside": False}
    half, brain = (AutocastRecord(dtype=dtype, **facts) for dtype in ("float16", "bfloat16"))
    assert "dtype=torch.bfloat16" in skipped(10, [1, 3, 5, 6, 7], taken=5, others=[half])[0].fix
    assert "dtype=torch.bfloat16" not in skipped(10, [1, 3, 5, 6, 7], taken=5, others=[brain])[0].fix


@pytest.mark.parametrize(
    ("num_steps", "at"), [(20, [1, 3, 5, 6, 7, 9]), (9, [1, 2, 3, 4, 5]), (20, [])], ids=["30%", "few steps", "none"]
)
def test_fewer_are_silent(num_steps, at):
    assert skipped(num_steps, at, taken=num_steps - len(at)) == []


def test_the_search_for_a_scale_at_the_start_is_silent():
    assert skipped(14, [0] * 6, taken=8) == []


def test_a_search_that_takes_most_of_the_steps_is_not():
    assert len(skipped(14, [0] * 8, taken=6)) == 1


def test_steps_left_out_to_the_end_count_though_they_are_few():
    assert len(skipped(100, [92] * 8, taken=92)) == 1
    assert skipped(100, [93] * 7, taken=93) == []


def half(dtype="float16", bits=0.5, subnormal=0.1, *, scaler=False, looks=3):
    run = Run()
    run.records.append(AutocastRecord(model="net", step=0, enabled=True, device_type="cpu", dtype=dtype, inside=False))
    if scaler:
        run.records.append(ScalerUseRecord(**dict.fromkeys(ScalerUseRecord.__dataclass_fields__, 1)))
    for step in range(looks):
        run.frame("activation_headroom", ("net.0", "net.2")).append(step, (9.0, bits))
        run.frame("grad_subnormal_share", ("net.0.weight",)).append(step, (subnormal,))
    return list(fp16_headroom(run))


def test_a_layer_within_a_factor_of_two_of_the_limit_is_named():
    (finding,) = half()
    assert (finding.severity, finding.module) == (Severity.WARNING, "net.2")


def test_gradients_below_the_normal_numbers_are_named_where_nothing_scales():
    (finding,) = half(bits=5.0, subnormal=0.6)
    assert finding.parameter == "net.0.weight"
    assert half(bits=5.0, subnormal=0.6, scaler=True) == []


@pytest.mark.parametrize(
    "facts",
    [
        {"bits": 1.0},
        {"bits": 0.0},
        {"bits": math.nan},
        {"dtype": "bfloat16"},
        {"looks": 2},
        {"bits": 4.0, "subnormal": 0.5},
    ],
    ids=str,
)
def test_half_precision_with_room_is_silent(facts):
    assert half(**facts) == []


def test_ten_steps_are_enough():
    assert len(skipped(10, [1, 3, 5, 6, 7], taken=5)) == 1


def test_steps_that_no_scaler_was_counted_for_are_silent():
    run = Run()
    run.steps = 20
    assert list(amp_overflow_skips(run)) == []


def test_a_deed_whose_line_is_not_known_is_told():
    run = Run()
    run.records.append(ScaledGradientsRecord(step=0, deed=Deed.CLIP, scale=1024.0, place=None))
    assert next(clip_before_unscale(run)).line is None


def test_the_fix_steps_what_the_line_steps_and_updates_once_for_all():
    assert scaled(Deed.STEP, line="opts[0].step()")["unscaled-step"][0].fix.startswith("scaler.step(opts[0]);")
    loop = "\n" * 5 + "for o in (a, b): o.step()\n"
    found = scaled(Deed.STEP, line="for o in (a, b): o.step()", source=loop)["unscaled-step"]
    assert found[0].fix == "scaler.step(o)  # for each, and only then scaler.update()"
