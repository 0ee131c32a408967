"""Our own labelled notebook cells: nearly every bug is named and placed, and healthy training hears nothing."""

import ast
from collections import Counter

import pytest
import scoring

from torchmagic.rules.catalogue import RULES

CASES = scoring.cases()
# Rules of notebooks and of habits, which their own examples in tests/rules show; they have no labelled cell so far.
WITHOUT_CELL = {
    "all-targets-ignored",
    "anomaly-left-on",
    "batchnorm-extra-forward",
    "bce-on-logits",
    "class-imbalance",
    "clip-saturation",
    "continued-training",
    "double-step",
    "fp16-headroom",
    "global-mode-left",
    "held-by-output",
    "held-by-traceback",
    "hooks-piling-up",
    "image-layout",
    "inference-in-training-mode",
    "initial-loss",
    "leftover-gradients",
    "loss-spike",
    "out-of-memory",
    "padding-dominates",
    "poor-init-scale",
    "shared-parameter-optimizers",
    "swallowed-update",
    "worker-oversubscription",
}


# One in so many of a folder's cells is run here, for the sake of time; the command line runs all.
EVERY = {"buggy": 2, "twins": 4, "healthy": 2}


@pytest.fixture(scope="module")
def scores():
    pytest.importorskip("sklearn")
    chosen = []
    for folder, every in EVERY.items():
        chosen += [case for case in CASES if case.path.parent.name == folder][::every]
    return scoring.score(chosen)


def named(case):
    return case.name


@pytest.mark.corpus
def test_every_cell_runs_as_its_header_says(scores):
    assert [(one.case.name, one.broken) for one in scores if one.broken] == []


@pytest.mark.corpus
@pytest.mark.parametrize(("what", "least"), [("caught", 0.90), ("first", 0.85), ("located", 0.80)])
def test_most_bugs_are(scores, what, least):
    told = [(one, getattr(one, what)) for one in scores if one.case.buggy]
    missed = [one.case.name for one, value in told if value is False]
    assert scoring.share(value for _, value in told if value is not None) >= least, missed


@pytest.mark.corpus
def test_healthy_and_repaired_cells_are_silent(scores):
    alarms = [(one.case.name, one.extra) for one in scores if not one.case.buggy and one.extra]
    assert len(alarms) <= 0.025 * sum(not one.case.buggy for one in scores), alarms


@pytest.mark.parametrize("case", CASES, ids=named)
def test_a_cell_has_a_header_and_two_parts(case):
    assert case.header["kind"] == ("buggy" if case.path.parent.name == "buggy" else "healthy")
    assert case.header["case"]
    assert case.ids("expect") if case.buggy else case.header["forbid"] == "*"
    assert ast.parse(case.setup).body
    assert ast.parse(case.cell).body
    if place := case.header.get("line"):
        assert (case.setup + case.cell).count(place) >= 1
    assert not case.path.stem.startswith("test_"), "pytest would collect it"


def test_names_are_given_once():
    given = Counter(case.header["case"] for case in CASES)
    assert [name for name, count in given.items() if count > 1] == []


def test_every_other_rule_has_a_cell_of_its_own():
    wanted = {rule for case in CASES for rule in case.ids("expect")}
    elsewhere = {"speed", "ranks"}  # rules of profiles, and of several processes
    of_a_run = {rule.id for rule in RULES if rule.group not in elsewhere}
    assert of_a_run - wanted == WITHOUT_CELL


def test_every_repaired_cell_has_the_bug_that_it_repairs():
    buggy = {case.path.stem for case in CASES if case.path.parent.name == "buggy"}
    assert {case.path.stem for case in CASES if case.path.parent.name == "twins"} <= buggy
