"""This file tests what is told of a GradScaler: its scale, the steps it leaves out, and gradients used too early."""

import math
import traceback

import pytest
import torch

from torchmagic.debuggers.watching import watch
from torchmagic.probes.sites import is_ours
from torchmagic.records.precision import (
    Deed,
    GradScalerRecord,
    ScaledGradientsRecord,
    ScalerUseRecord,
    SkippedStepRecord,
)

CELL = """
net = nn.Linear(4, 1)
opt = torch.optim.{optimizer}
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=3, enabled={enabled})
for step in range({steps}):
    opt.zero_grad()
    loss = net(torch.randn(8, 4)).pow(2).mean()
    if step in {planted}:
        loss = loss * float("inf")
    scaler.scale(loss).backward()
    {before}
    {deed}
    {update}
"""
CLIP = "nn.utils.clip_grad_norm_(net.parameters(), 1.0)"


def cell(**parts):
    return CELL.format(
        **{
            "optimizer": "SGD(net.parameters(), lr=0.01)",
            "enabled": True,
            "steps": 6,
            "planted": (),
            "before": "pass",
            "deed": "scaler.step(opt)",
            "update": "scaler.update()",
            **parts,
        }
    )


def test_a_healthy_scaler_shows_its_scale_and_its_settings(run_cell):
    run, _ = run_cell(cell())
    assert run.series("grad_scale") == ([1, 2, 3, 4, 5, 6], [1024.0, 1024.0, 2048.0, 2048.0, 2048.0, 4096.0])
    assert run.of(GradScalerRecord) == [
        GradScalerRecord(
            step=0,
            optimizer="opt",
            enabled=True,
            scale=1024.0,
            growth_factor=2.0,
            backoff_factor=0.5,
            growth_interval=3,
        )
    ]
    assert not run.of(SkippedStepRecord)
    assert not run.of(ScaledGradientsRecord)
    assert run.of(ScalerUseRecord) == [
        ScalerUseRecord(
            num_scaled=6,
            num_unscaled=0,
            num_steps=6,
            num_skipped=0,
            num_updates=6,
            num_clipped_while_scaled=0,
            num_past=0,
        )
    ]


def test_a_step_that_is_left_out_is_told_with_scale_and_line(run_cell):
    run, _ = run_cell(cell(planted=(2, 3)), anomaly="off")
    first, second = run.of(SkippedStepRecord)
    assert run.steps == 4
    assert (first.step, first.optimizer, first.scale, first.place.source) == (2, "opt", 1024.0, "scaler.step(opt)")
    assert (second.step, second.scale) == (2, 512.0)
    assert run.series("skipped_steps") == ([2, 2], [1.0, 2.0])
    assert run.series("grad_scale")[1][:4] == [1024.0, 1024.0, 512.0, 256.0]
    assert run.of(ScalerUseRecord)[0].num_skipped == 2


def test_a_step_that_a_fused_optimizer_leaves_out_is_known_from_the_scale(run_cell):
    run, _ = run_cell(cell(planted=(2,), optimizer="Adam(net.parameters(), fused=True)"), anomaly="off")
    (record,) = run.of(SkippedStepRecord)
    assert (record.step, record.optimizer, record.scale) == (2, "opt", 1024.0)
    assert record.place.source == "scaler.step(opt)"


@pytest.mark.parametrize("clip", [CLIP, "nn.utils.clip_grad_value_(net.parameters(), 1.0)"])
def test_clipping_before_unscaling_is_told_and_after_it_is_not(run_cell, clip):
    run, _ = run_cell(cell(before=clip))
    found = run.of(ScaledGradientsRecord)
    assert len(found) == 6
    assert (found[0].deed, found[0].place.source) == (Deed.CLIP, clip)
    assert found[1].scale == 1024.0
    run, _ = run_cell(cell(before="scaler.unscale_(opt); " + clip))
    assert not run.of(ScaledGradientsRecord)
    assert run.of(ScalerUseRecord)[0].num_unscaled == 6


def test_an_optimizer_that_steps_past_the_scaler_is_told(run_cell):
    run, _ = run_cell(cell(deed="opt.step()", update="pass"))
    found = run.of(ScaledGradientsRecord)
    assert [record.deed for record in found] == [Deed.STEP] * 6
    assert found[0].place.source == "opt.step()"
    use = run.of(ScalerUseRecord)[0]
    assert (use.num_past, use.num_steps, use.num_updates) == (6, 0, 0)


def test_an_optimizer_of_another_model_may_step_by_itself(run_cell):
    run, _ = run_cell(
        "other = nn.Linear(4, 1)\nfree = torch.optim.SGD(other.parameters(), lr=0.1)\n"
        "other(torch.zeros(1, 4)).sum().backward()\n" + cell(before="free.step()")
    )
    assert not run.of(ScaledGradientsRecord)


def test_a_scaler_that_is_never_updated_shows_in_the_counts(run_cell):
    run, _ = run_cell(cell(update="pass", steps=1))
    use = run.of(ScalerUseRecord)[0]
    assert (use.num_steps, use.num_updates) == (1, 0)


def test_a_scaler_that_is_off_is_told_and_nothing_more(run_cell):
    run, _ = run_cell(cell(enabled=False, before=CLIP))
    (record,) = run.of(GradScalerRecord)
    assert not record.enabled
    assert math.isnan(record.scale)
    assert run.series("grad_scale") == ([], [])
    assert not run.of(ScaledGradientsRecord)
    assert not run.of(ScalerUseRecord)


def test_a_scale_that_the_user_gives_is_no_skipped_step(run_cell):
    run, _ = run_cell(cell(update="scaler.update(8.0)", optimizer="Adam(net.parameters(), fused=True)"))
    assert run.series("grad_scale")[1] == [8.0] * 6
    assert not run.of(SkippedStepRecord)


def test_the_scaler_answers_and_fails_as_ever():
    def outcome():
        torch.manual_seed(0)
        net = torch.nn.Linear(2, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("cpu")
        scaler.scale(net(torch.ones(3, 2)).sum()).backward()
        scaler.unscale_(optimizer=opt)
        answers = [scaler.step(optimizer=opt), scaler.update(new_scale=2.0), scaler.get_scale()]
        scaler.scale(net(torch.ones(3, 2)).sum()).backward()
        scaler.unscale_(opt)
        with pytest.raises(RuntimeError) as twice:
            scaler.unscale_(opt)
        # what torchmagic's outermost wrapper adds is taken out where the cell's error is shown
        entries = traceback.extract_tb(twice.value.__traceback__)
        lines = [entry.name for entry in entries if not is_ours(entry.filename)]
        assert len(entries) - len(lines) <= 1
        return answers, str(twice.value), lines, net.weight.detach().clone()

    names = ("scale", "unscale_", "step", "update")
    before = [vars(torch.amp.GradScaler)[name] for name in names]
    plain = outcome()
    with watch(save=False):
        assert [vars(torch.amp.GradScaler)[name] for name in names] != before
        watched = outcome()
    assert [vars(torch.amp.GradScaler)[name] for name in names] == before
    assert plain[:3] == watched[:3]
    assert torch.equal(plain[3], watched[3])


def test_a_subclass_that_calls_its_parent_counts_once(run_cell):
    class Mine(torch.amp.GradScaler):
        def step(self, optimizer, *args, **kwargs):
            return super().step(optimizer, *args, **kwargs)

        def update(self, new_scale=None):
            super().update(new_scale)

    run, _ = run_cell(cell().replace("torch.amp.GradScaler", "Mine"), names={"Mine": Mine})
    use = run.of(ScalerUseRecord)[0]
    assert (use.num_steps, use.num_updates, use.num_skipped) == (6, 6, 0)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_on_cuda_the_scale_comes_with_the_next_step(run_cell):
    source = cell(planted=(2,)).replace('"cpu"', '"cuda"').replace("nn.Linear(4, 1)", "nn.Linear(4, 1).cuda()")
    run, _ = run_cell(source.replace("torch.randn(8, 4)", "torch.randn(8, 4).cuda()"), anomaly="off")
    assert run.series("grad_scale")[1] == [1024.0, 1024.0, 512.0, 512.0, 512.0, 1024.0]
    assert len(run.of(SkippedStepRecord)) == 1


TWO = """
body, head = nn.Sequential(nn.Linear(4, 8), nn.ReLU()), nn.Linear(8, 1)
first, second = torch.optim.SGD({first}.parameters(), lr=1e-6), torch.optim.SGD({second}.parameters(), lr=1e-6)
scaler = torch.amp.GradScaler("cpu", init_scale=64.0)
for step in range(6):
    first.zero_grad(), second.zero_grad()
    scaler.scale(head(body(torch.randn(8, 4))).pow(2).mean()).backward()
    scaler.step(first)
    {between}
    {deed}
    scaler.update()
"""


@pytest.mark.parametrize(("first", "second", "past"), [("body", "head", 6), ("head", "body", 5)])
def test_a_second_optimizer_that_steps_past_the_scaler_is_seen(run_cell, first, second, past):
    run, _ = run_cell(TWO.format(first=first, second=second, between="pass", deed="second.step()"))
    assert run.of(ScalerUseRecord)[0].num_past == past
    assert run.of(ScaledGradientsRecord)[0].place.source == "second.step()"


@pytest.mark.parametrize(
    ("between", "deed"),
    [
        ("pass", "scaler.step(second)"),
        ("scaler.unscale_(second)", "second.step()"),
        ("second.zero_grad(); head(body(torch.randn(8, 4))).mean().backward()", "second.step()"),
    ],
)
def test_a_second_optimizer_that_is_unscaled_or_learns_from_something_else_is_not(run_cell, between, deed):
    run, _ = run_cell(TWO.format(first="body", second="head", between=between, deed=deed))
    assert run.of(ScaledGradientsRecord) == []
