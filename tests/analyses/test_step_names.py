"""This file tests how the user's code is found to speak of an optimizer."""

import pytest

from torchmagic.analyses.step_names import as_in_code, stepped_in, steps_each
from torchmagic.records.model import OptimizerRecord
from torchmagic.session.run import Run


def in_code(source, optimizer, *, class_name="SGD"):
    run = Run(source=source)
    run.records.append(OptimizerRecord(name=optimizer, class_name=class_name, lr=(0.1,), parameters=()))
    return as_in_code(run, optimizer)


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("self.opt.step()", ["self.opt"]),
        ("opts[0].step()", ["opts[0]"]),
        ("a.step(); b.step(closure); a.step()", ["a", "b"]),
        ("step()", []),
    ],
)
def test_what_a_line_steps_is_told_as_it_is_written(source, names):
    assert stepped_in(source) == names


@pytest.mark.parametrize(
    ("source", "optimizer", "name"),
    [
        ("self.opt.step()", "opt", "self.opt"),
        ("self.opt.step()", "trainer.opt", "self.opt"),
        ("scaler.scale(loss).backward(); scaler.step(self.opt)", "opt", "self.opt"),
        ("self.opt.step(); other.opt.step()", "opt", "opt"),
        ("plan.step(opt)", "opt", "opt"),
        ("x = 1", "opt", "opt"),
    ],
)
def test_an_optimizer_is_called_as_the_only_code_that_steps_it_does(source, optimizer, name):
    assert in_code(source, optimizer) == name


def test_one_known_by_its_class_is_what_a_scaler_steps():
    assert in_code("s.scale(loss).backward(); s.step(self.opt); plan.step(loss)", "SGD") == "self.opt"
    assert in_code("s.scale(loss).backward(); s.step(a); s.step(b)", "SGD") == "SGD"


def test_a_loop_that_steps_what_it_goes_through_steps_each():
    assert steps_each("for o in (a, b):\n    o.step()\n", 2)
    assert not steps_each("for i in range(3):\n    o.step()\n", 2)
