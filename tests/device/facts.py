"""This file is what happens on the simulated device, told as JSON: it runs in a process of its own.

python facts.py LIBRARY
"""

import faulthandler
import json
import sys

import sim
import torch
from torch import nn
from torch.nn import functional

import torchmagic
from torchmagic.debuggers.watching import watch
from torchmagic.records.note import EnvironmentRecord, FailureRecord
from torchmagic.records.snapshot import SnapshotRecord
from torchmagic.tensors import near
from torchmagic.tensors.reduce import fetch

STEPS = 40
LEVELS = "basic", "intermediate", "advanced", "expert"


def train(*, half=False, steps=STEPS, sick_at=None):
    """Train a small network with dropout on the device; return losses, weights and where the random numbers stand."""
    torch.manual_seed(0)
    torch.sim.manual_seed(0)
    net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 10)).to("sim")
    opt = torch.optim.AdamW(net.parameters(), lr=1e-2)
    scaler = torch.amp.GradScaler("sim", enabled=half)
    x, y = torch.randn(256, 64).to("sim"), torch.randint(0, 10, (256,)).to("sim")
    losses = torch.empty(steps, device="sim")
    for step in range(steps):
        opt.zero_grad()
        with torch.autocast("sim", torch.float16, enabled=half):
            scores = net(x)
        if step == sick_at:
            scores = scores * 0
            loss = functional.nll_loss(torch.log(scores), y)
        else:
            loss = functional.cross_entropy(scores.float(), y)
        torch.rand(1, device="sim")  # drawn after what a replay draws once more
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
        losses[step] = loss.detach()
    return [losses.cpu(), *(each.cpu() for each in net.state_dict().values()), *stands()]


def stands():
    """Return where the random numbers of host and device stand."""
    return [torch.get_rng_state(), torch.sim.get_rng_state()]


def same(ours, theirs):
    """Whether tensors are equal, NaN for NaN."""
    return all(torch.equal(one.nan_to_num(7), other.nan_to_num(7)) for one, other in zip(ours, theirs, strict=True))


def failures(run):
    """Return what raised of ours."""
    return [each.error for each in run.of(FailureRecord)]


def watched(**settings):
    """Return what a training gave, and its run."""
    how = {name: settings.pop(name) for name in ("half", "steps", "sick_at") if name in settings}
    with watch(save=False, **settings) as run:
        found = train(**how)
    return found, run


def bits(*, half):
    """Return, for each level, whether all is as without us, and what failed."""
    bare = train(half=half)
    told = {}
    for level in LEVELS:
        found, run = watched(half=half, level=level)
        told[level] = {"same": same(found, bare), "failures": failures(run), "text": run.to_text()}
    return told


def waits(level):
    """Return how often more a step the host waits for the device, closer looks at the first steps left out."""

    def added(steps):
        watched(steps=2)
        return (
            sim.counted(lambda: watched(steps=steps, level=level, budget=0.0))[1]
            - sim.counted(lambda: train(steps=steps))[1]
        )

    return (added(3 * STEPS) - added(STEPS)) / (2 * STEPS)


def first_looks():
    """Return how often more the host waits at the highest level, in a training of a single step."""
    with_us = sim.counted(lambda: watched(steps=1, level="expert"))[1]
    return with_us - sim.counted(lambda: train(steps=1))[1]


def fetched():
    """Return values of several types as they come from the device, and the transfers."""
    values = [2.5, 7, 3.0, True, 1 << 20, -0.25, 9]
    scalars = [torch.tensor(each).to("sim") for each in values[:-1]] + [torch.tensor(values[-1])]
    found, transfers = sim.counted(lambda: fetch(scalars))
    return values, found, transfers


def brought():
    """Return whether tensors of two types, and one of the host, come as they are, and the transfers, two for floats."""
    kinds = (torch.float32, 5), (torch.int64, 3), (torch.float32, 4), (torch.float32, 6)
    there = [*(torch.arange(size, dtype=dtype).to("sim") for dtype, size in kinds), torch.arange(2)]
    limit, near.SMALL_BYTES = near.SMALL_BYTES, 40
    try:
        found, transfers = sim.counted(lambda: near.all_brought_near(there))
    finally:
        near.SMALL_BYTES = limit
    here = [torch.arange(size, dtype=dtype) for dtype, size in kinds]
    return all(map(torch.equal, found, [*here, torch.arange(2)])), transfers


def hidden():
    """Return how often more a step the host waits where a function hides the backward, once there is no doubt left."""

    def train(steps):
        torch.manual_seed(0)
        net = nn.Linear(64, 10).to("sim")
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        x = torch.randn(16, 64).to("sim")

        def learn():
            net(x).square().mean().backward()

        for _ in range(steps):
            opt.zero_grad()
            learn()
            opt.step()

    def added(steps):
        _, bare = sim.counted(lambda: train(steps))
        with watch(save=False, level="basic", budget=0.0):
            return sim.counted(lambda: train(steps))[1] - bare

    return (added(5 * STEPS) - added(2 * STEPS)) / (3 * STEPS)


def by_hand():
    """Return, of a loop that steps by hand, how often more a step the host waits, its steps, and if it is as bare."""

    def train(steps):
        torch.manual_seed(0)
        w = torch.zeros(64, 10, device="sim").requires_grad_()
        x, y = torch.randn(256, 64).to("sim"), torch.randn(256, 10).to("sim")
        for _ in range(steps):
            (x @ w - y).square().mean().backward()
            with torch.no_grad():
                w -= 0.1 * w.grad
            w.grad = None
        return [w.detach().cpu()]

    def added(steps):
        bare, waited = sim.counted(lambda: train(steps))
        with watch(save=False, budget=0.0) as run:
            found, waits = sim.counted(lambda: train(steps))
        return waits - waited, run.steps, same(found, bare)

    (few, *_), (many, steps, as_it_was) = added(STEPS), added(3 * STEPS)
    return (many - few) / (2 * STEPS), steps, as_it_was


def snapshots():
    """Return whether snapshots of device and host are the same, of steps by an optimizer, by hand and of none."""

    def taken(device, *, how):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(8, 6), nn.ReLU(inplace=True), nn.Linear(6, 2)).to(device)
        x = torch.randn(4, 8).to(device)
        opt = torch.optim.SGD(net.parameters(), lr=0.1) if how == "optimizer" else None
        with watch(save=False, level="expert") as run:
            for _ in range(2):
                net.zero_grad()
                net(x).square().mean().backward()
                if opt is not None:
                    opt.step()
                elif how == "by hand":
                    for weight in net.parameters():
                        weight.data -= 0.1 * weight.grad
        return sorted(run.of(SnapshotRecord), key=lambda each: (each.step, each.what, each.subject))

    told = [(taken("sim", how=how), taken("cpu", how=how)) for how in ("optimizer", "by hand", "none")]
    return [(there == here, sum(each.what == "activation" for each in there)) for there, here in told]


def replayed():
    """Return what is found of a step that takes the log of nothing, and whether the rest went on as without us."""
    found, run = watched(sick_at=STEPS // 2, level="basic")
    finding = run.findings[0]
    return {
        "rule": finding.rule,
        "title": finding.title,
        "source": finding.source,
        "same": same(found, train(sick_at=STEPS // 2)),
        "failures": failures(run),
    }


def pages():
    """Return, for tensors of many kinds, the transfers of a page, and whether it is the host's page."""
    torch.manual_seed(0)
    tensors = {
        "float32": torch.randn(64, 1000),
        "not finite": torch.log(torch.randn(64, 1000)),
        "float16": torch.randn(300).half(),
        "whole": torch.randint(0, 10, (1000,)),
        "truth": torch.rand(1000) > 0.5,
        "complex": torch.randn(10, 10, dtype=torch.complex64),
        "one": torch.tensor(3.0),
        "image": torch.rand(3, 64, 64),
        "batch": torch.rand(20, 3, 32, 32),
        "large": torch.randn(1200, 1000),
    }
    return {name: page(tensor) for name, tensor in tensors.items()}


def page(tensor):
    """Return the transfers of a tensor's page, and whether it says what the host's says."""
    there = tensor.to("sim")
    text, transfers = sim.counted(lambda: told(there))
    return transfers, text.replace("sim:0", "cpu") == told(tensor)


def told(tensor):
    """Return a tensor's page as text."""
    return str(torchmagic.tensorinfo(tensor))


def mismatch():
    """Return what is found where a batch stays on the host."""
    net = nn.Sequential(nn.Linear(8, 4), nn.ReLU()).to("sim")
    batch = torch.randn(2, 8)
    try:
        with watch(save=False) as run:
            net(batch)
    except RuntimeError:
        return [run.findings[0].rule, run.findings[0].fix]
    return []


def memory():
    """Return the greatest part of each kind of memory, in bytes, and how many bytes of a run stay on the device."""
    train(steps=2)
    before = torch.sim.memory_allocated()
    _, run = watched(level="advanced")
    return {name: max(run.series("memory_bytes", name=name)[1]) for name in run.subjects("memory_bytes")}, (
        torch.sim.memory_allocated() - before
    )


def model():
    """Return a model's page, and whether random numbers stand where they stood."""
    net = nn.Sequential(nn.Linear(8, 4), nn.Dropout(), nn.Linear(4, 2)).to("sim")
    before = stands()
    text = str(torchmagic.modelinfo(net, input_size=(3, 8)))
    return text, same(stands(), before)


def default():
    """Return what failed in a training of which the device is torch's default, and whether it went as without us."""
    torch.set_default_device("sim")
    try:
        bare = train()
        found, run = watched(level="expert")
        return {"failures": failures(run), "same": same(found, bare)}
    finally:
        torch.set_default_device(None)


def opened():
    """Return the devices that are told of a run that opens the first one itself."""
    torch.sim.is_initialized = lambda: False
    with watch(save=False) as run:
        torch.sim.is_initialized = lambda: True
    return [each.device for each in run.of(EnvironmentRecord)], run.to_text()


def main():
    """Give torch the device, and print all facts."""
    faulthandler.enable()
    sim.give_torch(sys.argv[1])
    facts = {
        "bits": bits(half=False),
        "half": bits(half=True),
        "waits": {level: waits(level) for level in LEVELS},
        "first looks": first_looks(),
        "fetched": fetched(),
        "brought": brought(),
        "hidden": hidden(),
        "by hand": by_hand(),
        "snapshots": snapshots(),
        "replayed": replayed(),
        "pages": pages(),
        "mismatch": mismatch(),
        "memory": memory(),
        "model": model(),
        "default": default(),
        "opened": opened(),
    }
    sys.stdout.write(json.dumps(facts))


if __name__ == "__main__":
    main()
