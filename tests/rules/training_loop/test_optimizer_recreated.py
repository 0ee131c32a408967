"""This file tests the rule on optimizers that are built again and again, on records written by hand."""

import pytest

from torchmagic.records.finding import Severity
from torchmagic.records.loop import RebuiltOptimizerRecord
from torchmagic.records.place import Place
from torchmagic.rules.training_loop.optimizer_recreated import optimizer_recreated
from torchmagic.session.run import Run


def rebuilt(**changes):
    line = Place(file="<cell>", line=2, source="opt = Adam(net.parameters())")
    facts = {
        "optimizer": "opt",
        "class_name": "Adam",
        "built": 5,
        "keeps_state": True,
        "least_steps": 3,
        "most_steps": 3,
        "most_passes": 1,
        "same_settings": True,
        "places": (line,),
    }
    return RebuiltOptimizerRecord(**{**facts, **changes})


def found(record, source="", **thresholds):
    run = Run(source=source)
    run.records.append(record)
    return list(optimizer_recreated(run, **thresholds))


def test_three_with_a_state_are_enough():
    (finding,) = found(rebuilt(built=3))
    assert (finding.severity, finding.line, finding.optimizer) == (Severity.WARNING, 2, "opt")
    assert finding.evidence["optimizers"] == 3


@pytest.mark.parametrize(
    "changes",
    [
        {"built": 2},
        {"keeps_state": False},
        {"most_passes": 2},
        {"most_passes": 0, "least_steps": 50, "same_settings": False},
    ],
)
def test_few_stateless_ones_and_phases_are_silent(changes):
    assert found(rebuilt(**changes)) == []


def test_many_steps_each_under_the_same_settings_are_no_phases():
    assert len(found(rebuilt(most_passes=0, least_steps=80))) == 1


def test_thresholds_are_the_callers():
    assert found(rebuilt(), min_built=6) == []
    assert len(found(rebuilt(most_passes=2), phase_passes=3)) == 1
    assert found(rebuilt(most_passes=0, same_settings=False), phase_steps=3) == []


def test_of_a_factory_in_the_cell_the_call_is_the_place():
    source = "def make(net):\n    return Adam(net.parameters())\n\nfor i in range(3):\n    opt = make(net)\n"
    places = (
        Place(file="<cell>", line=2, source="return Adam(net.parameters())", function="make"),
        Place(file="<cell>", line=5, source="opt = make(net)"),
    )
    assert found(rebuilt(places=places), source)[0].line == 5


def test_of_a_function_that_trains_the_line_inside_is_the_place():
    source = "def train(net):\n    opt = Adam(net.parameters())\n    opt.step()\n\nfor i in range(3):\n    train(net)\n"
    places = (
        Place(file="<cell>", line=2, source="opt = Adam(net.parameters())", function="train"),
        Place(file="<cell>", line=6, source="train(net)"),
    )
    assert found(rebuilt(places=places), source)[0].line == 2


def test_of_a_factory_in_another_cell_the_line_of_this_cell_is_the_place():
    places = (
        Place(file="<setup>", line=40, source="return Adam(net.parameters())", function="make"),
        Place(file="<cell>", line=2, source="opt = make(net)"),
    )
    assert found(rebuilt(places=places), "for i in range(3):\n    opt = make(net)\n")[0].line == 2


def test_the_builder_may_stand_in_an_earlier_cell():
    builder = Place(file="<earlier>", line=9, source="opt = AdamW(ps)")
    assert found(rebuilt(builder=builder))[0].source == "opt = AdamW(ps)"
