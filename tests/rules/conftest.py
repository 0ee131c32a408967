"""This file writes runs by hand: what an optimizer, its schedule and its loss would have left behind."""

import math

import pytest

from torchmagic.records.loss import BackwardRecord, LossRecord
from torchmagic.records.model import ParameterRecord
from torchmagic.records.objective import GroupRecord, ObjectiveRecord
from torchmagic.records.place import Place
from torchmagic.records.schedule import ScheduleRecord
from torchmagic.session.run import Run

BACKWARD = Place(file="<cell>", line=9, source="loss.backward()")
BUILT = Place(file="<cell>", line=2, source="opt = torch.optim.SGD(net.parameters(), lr=0.1)")
SCHEDULE = Place(file="<cell>", line=3, source="sched = StepLR(opt, 30)")
STEPPED = Place(file="<cell>", line=11, source="sched.step()")
NAMES = ("net.weight", "net.bias")


class History:
    """A run in the making; each method adds one kind of fact and returns the history."""

    def __init__(self):
        self.run = Run()

    def series(self, metric, values, subjects=("",), *, steps=None):
        for i, value in enumerate(values):
            row = value if isinstance(value, tuple) else (value,) * len(subjects)
            self.run.frame(metric, subjects).append(i if steps is None else steps[i], row)
        return self

    def losses(self, values, **changes):
        self.run.steps = max(self.run.steps, len(values))
        self.series("loss", values, ("loss",))
        self.run.records.append(BackwardRecord(name="loss", place=BACKWARD))
        self.run.records.append(
            LossRecord(name="cross_entropy", input_shape=(8, 3), target_shape=(8,), reduction="mean", place=BACKWARD)
        )
        return self.objective(**changes)

    def objective(self, **changes):
        facts = {
            "loss": "loss", "place": BACKWARD, "step": 0, "criteria": ("cross_entropy",), "mixed": False, "sign": 1,
            "scale": 1.0, "weighted": False, "log_prob": False, "num_classes": 3, "altered": False,
        }  # fmt: skip
        self.run.records.append(ObjectiveRecord(**facts | changes))
        return self

    def group(self, **changes):
        facts = {
            "optimizer": "opt", "class_name": "SGD", "subject": "opt", "parameters": NAMES, "num_elements": 100,
            "lr": 0.1, "weight_decay": 0.0, "decoupled": False, "maximize": False, "step": 0, "built": BUILT,
        }  # fmt: skip
        self.run.records.append(GroupRecord(**facts | changes))
        for name in NAMES:
            self.run.records.append(
                ParameterRecord(
                    name=name, model="net", module="net", shape=(50,), dtype="float32", device="cpu", trainable=True
                )
            )
        return self

    def rates(self, values, subject="opt"):
        self.run.steps = max(self.run.steps, len(values))
        return self.series("lr", values, (subject,))

    def schedule(self, *, counts=None, **changes):
        facts = {
            "name": "sched", "class_name": "StepLR", "optimizer": "opt", "settings": {}, "base_lr": (0.1,),
            "parts": (), "step": 1, "stepped": True, "before_optimizer": False, "metric": False, "scaled": False,
            "built": SCHEDULE, "place": STEPPED,
        }  # fmt: skip
        self.run.records.append(ScheduleRecord(**facts | changes))
        if counts is not None:
            for number, step in enumerate(counts, 1):
                self.run.frame("schedule_steps", ("sched",)).append(step, (number,))
        return self

    def updates(self, ratios, *, lengths=None, norms=None):
        """Add the same ratio for both parameters at each step, with weights of these lengths in all."""
        self.run.steps = max(self.run.steps, len(ratios))
        part = [length / math.sqrt(2) for length in lengths or [10.0] * len(ratios)]
        self.series("weight_norm", [(each, each) for each in part], NAMES)
        self.series("update_ratio", [(each, each) for each in ratios], NAMES)
        return self.series("grad_norm", norms or [1.0] * len(ratios))


@pytest.fixture
def history():
    return History()
