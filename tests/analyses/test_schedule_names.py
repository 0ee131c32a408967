"""This file tests by which names schedulers and their optimizers are called."""

import pytest

from torchmagic.analyses.schedule_names import schedule_name, scheduled_optimizer
from torchmagic.records.model import OptimizerRecord
from torchmagic.records.place import Place
from torchmagic.records.schedule import ScheduleRecord
from torchmagic.session.run import Run

OPTIMIZER = OptimizerRecord(name="SGD", class_name="SGD", lr=(0.1,), parameters=())


def at(text, line=1):
    return Place(file="<cell>", line=line, source=text.splitlines()[line - 1].strip())


def schedule(**changes):
    facts = {
        "name": "StepLR", "class_name": "StepLR", "optimizer": "SGD", "settings": {}, "base_lr": (0.1,), "parts": (),
        "step": None, "stepped": False, "before_optimizer": False, "metric": False, "scaled": False, "built": None,
        "place": None,
    }  # fmt: skip
    return ScheduleRecord(**facts | changes)


def run_of(source=""):
    run = Run(source=source)
    run.records.append(OPTIMIZER)
    return run


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("plan = StepLR(opt, 3)", "plan"),
        ("self.plan = torch.optim.lr_scheduler.StepLR(self.opt, 3)", "self.plan"),
        ("train(StepLR(opt, 3))", "scheduler"),
        ("plan = make(opt)", "scheduler"),
    ],
)
def test_one_without_a_known_name_is_called_as_the_line_that_builds_it_does(line, name):
    assert schedule_name(run_of(line), schedule(built=at(line))) == name
    assert schedule_name(run_of(), schedule(built=at(line))) == name  # of a file that was not kept


def test_the_line_that_steps_it_comes_first_and_knows_what_it_is_an_attribute_of():
    line = "self.plan.step()"
    assert schedule_name(run_of(line), schedule(place=at(line))) == "self.plan"
    assert schedule_name(run_of(line), schedule(name="plan", place=at(line))) == "self.plan"
    assert schedule_name(run_of(line), schedule(name="warm", place=at(line))) == "warm"


def test_nothing_known_is_a_scheduler():
    assert schedule_name(run_of(), schedule()) == "scheduler"


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("plan = StepLR(self.opt, 3)", "self.opt"),
        ("plan = StepLR(step_size=3, optimizer=opt)", "opt"),
        ("plan = make(opt)", "SGD"),
    ],
)
def test_an_optimizer_known_by_its_class_is_called_as_the_scheduler_is_given_it(line, name):
    assert scheduled_optimizer(run_of(line), schedule(built=at(line))) == name
    assert scheduled_optimizer(run_of(line), schedule(built=at(line), optimizer="adam")) == "adam"
