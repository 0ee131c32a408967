"""This file tests a training on CUDA: the same bits, no wait for the device but one a step, and the device's memory."""

import warnings

import pytest
import torch
from torch import nn
from torch.nn import functional

from torchmagic.debuggers.watching import watch
from torchmagic.probes.sync_debug import SyncDebug
from torchmagic.records.note import FailureRecord

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
]
STEPS = 40


def train(*, half=False, steps=STEPS):
    """Train a small network on the device; return its losses and weights."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 10)).cuda()
    opt = torch.optim.AdamW(net.parameters(), lr=1e-2, foreach=True)
    scaler = torch.amp.GradScaler("cuda", enabled=half)
    x, y = torch.randn(256, 64, device="cuda"), torch.randint(0, 10, (256,), device="cuda")
    losses = torch.empty(steps, device="cuda")
    for step in range(steps):
        opt.zero_grad()
        with torch.autocast("cuda", torch.float16, enabled=half):
            loss = functional.cross_entropy(net(x), y)
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
        losses[step] = loss.detach()
    return losses, [value.detach().clone() for value in net.state_dict().values()]


def waits(steps, **settings):
    """Return how often the host waited for the device in a whole training, watched or (without settings) not."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        try:
            if settings:
                with watch(save=False, **settings):
                    train(steps=steps)
            else:
                train(steps=steps)
        finally:
            torch.cuda.set_sync_debug_mode("default")
    return sum("synchronizing" in str(each.message) for each in caught)


@pytest.mark.parametrize("half", [False, True], ids=["float32", "autocast"])
@pytest.mark.parametrize("level", ["basic", "intermediate", "advanced", "expert"])
def test_the_bits_are_the_same(level, half):
    losses, weights = train(half=half)
    with watch(save=False, level=level) as run:
        watched_losses, watched_weights = train(half=half)
    assert not run.of(FailureRecord)
    assert torch.equal(losses, watched_losses)
    assert all(torch.equal(a, b) for a, b in zip(weights, watched_weights, strict=True))
    assert run.series("loss")[1] == pytest.approx(losses.tolist())
    assert len(run.series("grad_norm")[0]) == STEPS


def test_the_sentinels_wait_for_the_device_once_a_step(monkeypatch):
    monkeypatch.setattr(
        SyncDebug, "ask", lambda _: None
    )  # else the warnings, by which waits are counted, are the user's

    def added(steps):
        return waits(steps, level="basic", budget=0.0) - waits(steps)

    added(STEPS)  # the first run loads and names things
    few, many = added(STEPS), added(3 * STEPS)  # both have the closer looks at the first steps
    assert many - few <= 2 * STEPS + 20  # and closer looks now and then


def test_the_devices_memory_is_recorded():
    with watch(save=False, level="intermediate") as run:
        train()
    assert max(run.series("cuda_bytes")[1]) > 0
    assert max(run.series("cuda_peak_bytes")[1]) >= max(run.series("cuda_bytes")[1])


@pytest.mark.parametrize("mode", ["warn", "error"])
def test_the_mode_about_waits_is_the_users_alone(mode):
    bare, _ = train()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.cuda.set_sync_debug_mode(mode)  # says that it is a prototype
        warnings.simplefilter("error")
        try:
            with watch(save=False, level="expert") as run:
                watched, _ = train()
            assert torch.cuda.get_sync_debug_mode() == {"warn": 1, "error": 2}[mode]
        finally:
            torch.cuda.set_sync_debug_mode("default")
    assert not run.of(FailureRecord)
    assert torch.equal(bare, watched)
