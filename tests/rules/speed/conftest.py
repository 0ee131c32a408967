"""This file writes runs with a profile by hand: a window of ten steps in one second, and what it cost."""

import pytest

from torchmagic.records.costs import CostsRecord, LineCost, LoaderCost, ModuleCost, OperatorCost
from torchmagic.records.place import Place
from torchmagic.records.profile import PhasesRecord, ProfileRecord
from torchmagic.records.speed import ForwardRecord, HardwareRecord
from torchmagic.session.run import Run

PHASES = {"data": 0.05, "transfer": 0.0, "forward": 0.3, "backward": 0.5, "optimizer": 0.1, "idle": 0.0, "other": 0.05}


def place(source="y = net(x)", function="<module>", line=7):
    return Place(file="<cell>", line=line, source=source, function=function)


class Profiled:
    """A run in the making; each method adds one kind of fact and returns the same object."""

    def __init__(self):
        self.run = Run(source="loss.backward()\n")
        self.run.steps = 100
        self.run.clock.seconds = 10.0
        self.window = {"first_step": 2, "steps": 10, "waited": 0, "warmed": 2, "seconds": 1.0, "busy": 0.8,
                       "processor": 0.95, "events": 1000, "threads": 2, "cores": 2}  # fmt: skip
        self.phases = dict(PHASES)
        self.modules, self.lines, self.operators, self.loaders = [], [], [], []

    def module(self, path="0", dtype="float32", model="net", **costs):
        facts = {"class_name": "Linear", "calls": 10, "forward": 0.1, "forward_own": 0.1}
        self.modules.append(ModuleCost(model=model, path=path, dtype=dtype, **facts | costs))
        return self

    def line(self, source, *, calls=10, own=0.01, function="<module>", **costs):
        where = place(source, function, line=len(self.lines) + 1)
        facts = {"total": costs.pop("total", own), "own": own}
        self.lines.append(LineCost(place=where, calls=calls, **facts | costs))
        return self

    def operator(self, name, own, *, phase="forward", calls=10, **costs):
        facts = {"total": costs.pop("total", own), "own": own}
        self.operators.append(OperatorCost(name=f"aten::{name}", phase=phase, calls=calls, **facts | costs))
        return self

    def loader(self, total, *, workers=0, name="train", waits=(0.01, 0.02), place_source="for x, y in train:"):
        where = place(place_source, line=len(self.lines) + 1)
        self.loaders.append(LoaderCost(loader=name, workers=workers, batches=10, waits=waits, total=total, place=where))
        return self

    def phase(self, **seconds):
        self.phases |= seconds
        return self

    def within(self, **facts):
        self.window |= facts
        return self

    def model(self, **facts):
        known = {"model": "net", "convolutions": 0, "channels_last": 0, "input_channels_last": False,
                 "autocast": False, "compiled": False, "place": place()}  # fmt: skip
        return self.add(ForwardRecord(**known | facts))

    def hardware(self, **facts):
        known = {"device": "cpu", "capability": "AVX512", "half": "bfloat16", "half_speed": 2.2,
                 "threads": 2, "cores": 2}  # fmt: skip
        return self.add(HardwareRecord(**known | facts))

    def add(self, *records):
        self.run.records += records
        return self

    def written(self):
        """Return the run with its profile."""
        phases = {name: (seconds,) for name, seconds in self.phases.items()}
        self.run.records += [
            ProfileRecord(**self.window),
            PhasesRecord(steps=(2,), **phases),
            CostsRecord(
                modules=tuple(self.modules),
                lines=tuple(self.lines),
                operators=tuple(self.operators),
                loaders=tuple(self.loaders),
            ),
        ]
        return self.run


@pytest.fixture
def profiled():
    return Profiled()


@pytest.fixture
def at():
    return place
