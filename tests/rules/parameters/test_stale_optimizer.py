"""This file tests the rule on optimizers of another model, on records written by hand."""

from torchmagic.records.connection import GradientFlowRecord
from torchmagic.records.finding import Severity
from torchmagic.records.place import Place
from torchmagic.rules.parameters.stale_optimizer import MIN_STEPS, stale_optimizer
from torchmagic.session.run import Run

STEP = Place(file="<cell>", line=9, source="opt.step()")


def flow(**changed):
    facts = {
        "optimizer": "opt",
        "steps": 6,
        "num_trainable": 4,
        "num_received": 0,
        "frozen": (),
        "num_frozen": 0,
        "groups": (),
        "twin": "net",
        "num_backwards": 6,
        "place": STEP,
    }
    return GradientFlowRecord(**{**facts, **changed})


def found(*records, source=""):
    run = Run(source=source)
    run.records += records
    return list(stale_optimizer(run))


def test_an_optimizer_without_any_gradient_beside_a_model_like_its_own_is_told():
    (finding,) = found(flow())
    assert (finding.severity, finding.optimizer, finding.module) == (Severity.ERROR, "opt", "net")
    assert (finding.line, finding.source) == (9, "opt.step()")


def test_the_place_is_the_last_line_of_the_cell_that_makes_the_model():
    (finding,) = found(flow(), source="net = Net()\nopt = Adam(net.parameters())\nnet = Net()\n")
    assert (finding.line, finding.source) == (3, "net = Net()")


def test_three_steps_are_enough_and_two_are_not():
    assert MIN_STEPS == 3
    assert len(found(flow(steps=3))) == 1
    assert found(flow(steps=2)) == []


def test_an_optimizer_that_had_one_gradient_is_silent():
    assert found(flow(num_received=1)) == []


def test_without_a_model_of_the_same_shapes_it_is_silent():
    assert found(flow(twin="")) == []


def test_an_optimizer_of_frozen_parameters_is_silent():
    assert found(flow(num_trainable=0)) == []
