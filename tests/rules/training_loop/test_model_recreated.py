"""This file tests the rule on models that begin anew again and again, on records written by hand."""

import pytest

from torchmagic.records.finding import Severity
from torchmagic.records.loop import RestartRecord
from torchmagic.records.place import Place
from torchmagic.rules.training_loop.model_recreated import model_recreated
from torchmagic.session.run import Run


def restarts(**changes):
    facts = {
        "model": "net",
        "class_name": "Net",
        "how": "built",
        "lives": 5,
        "alive": 1,
        "most_passes": 1,
        "least_steps": 6,
        "same": True,
        "reseeded": False,
        "overlapping": False,
        "places": (Place(file="<cell>", line=2, source="net = Net()"),),
    }
    return RestartRecord(**{**facts, **changes})


def found(record, **thresholds):
    run = Run()
    run.records.append(record)
    return list(model_recreated(run, **thresholds))


@pytest.mark.parametrize(
    ("how", "words"),
    [("built", "is built anew"), ("initialised", "gets new random weights"), ("loaded", "is reset to the same")],
)
def test_three_lives_of_a_pass_each_are_enough(how, words):
    (finding,) = found(restarts(how=how, lives=3))
    assert (finding.severity, finding.module, finding.line) == (Severity.ERROR, "net", 2)
    assert words in finding.title


@pytest.mark.parametrize(
    "changes",
    [
        {"lives": 2},
        {"most_passes": 2},
        {"most_passes": 0},
        {"same": False},
        {"reseeded": True},
        {"overlapping": True},
        {"alive": 5},
        {"places": ()},
    ],
)
def test_folds_sweeps_seeds_and_ensembles_are_silent(changes):
    assert found(restarts(**changes)) == []


def test_one_model_that_begins_anew_is_alive_without_being_an_ensemble():
    assert len(found(restarts(how="loaded", alive=3))) == 1


def test_thresholds_are_the_callers():
    assert found(restarts(), min_lives=6) == []
    assert len(found(restarts(most_passes=2), most_passes=2)) == 1


def test_as_many_alive_as_are_asked_for_are_an_ensemble_and_fewer_are_not():
    assert found(restarts(lives=4, alive=3)) == []
    assert len(found(restarts(lives=4, alive=2))) == 1
