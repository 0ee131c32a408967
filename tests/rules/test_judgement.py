"""This file tests what the judgement makes of findings: lines of other cells keep their text and lose their number."""

import pytest

from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.judgement import judge
from torchmagic.rules.rule import Rule
from torchmagic.session.run import Run


def judged(source, line, text):
    found = Finding(rule="a", severity=Severity.ERROR, confidence=1.0, title="t", line=line, source=text)
    one = Rule(id="a", group="model", page="", check=lambda _run: iter([found]))
    (finding,) = judge(Run(source=source), lambda _rule, error: pytest.fail(str(error)), rules=(one,))
    return finding.line, finding.source


def test_a_line_of_the_cell_keeps_its_number():
    assert judged("a = 1\n  b = 2", 2, "b = 2") == (2, "b = 2")


def test_a_line_of_another_cell_has_no_number_but_its_text():
    assert judged("a = 1\nc = 3", 2, "b = 2") == (None, "b = 2")


def test_without_the_cells_source_nothing_is_dropped():
    assert judged("", 2, "b = 2") == (2, "b = 2")


@pytest.mark.parametrize(
    ("file", "line", "text", "placed"),
    [
        ("<cell 1>", 2, "b = 2", ("cell 1", 2)),
        ("<cell 1>", None, "b = 2", ("cell 1", None)),
        ("<cell 1>", 1, "b = 2", (None, None)),  # the text says something else there by now
        ("<cell 2>", 2, "b = 2", (None, None)),  # nothing is known of it
        ("<this cell>", 2, "c = 3", (None, 2)),
        (None, 2, "c = 3", (None, 2)),
        ("<cell 1>", 1, "a = 1", ("cell 1", 1)),  # which the cell has as well
        ("cell 1", 7, "b = 2", ("cell 1", 7)),  # that was judged before
    ],
)
def test_a_line_of_a_text_that_took_part_is_told_by_the_name_of_its_file(file, line, text, placed):
    finding = Finding(rule="a", severity=Severity.ERROR, confidence=1.0, title="t", line=line, file=file, source=text)
    one = Rule(id="a", group="model", page="", check=lambda _run: iter([finding]))
    run = Run(source="a = 1\nc = 3")
    run.texts, run.file_names = {"<cell 1>": "a = 1\nb = 2"}, {"<cell 1>": "cell 1"}
    (found,) = judge(run, lambda _rule, error: pytest.fail(str(error)), rules=(one,))
    assert (found.file, found.line, found.source) == (*placed, text)


@pytest.mark.parametrize(
    ("consequence", "cause"),
    [
        ("update-too-small", "stale-optimizer"),
        ("update-too-small", "detached-subgraph"),
        ("params-unchanged", "stale-optimizer"),
        ("vanishing-gradient", "weight-decay-dominates"),
        ("vanishing-gradient", "unregistered-parameter"),
        ("plateau", "weight-decay-dominates"),
        ("dead-relu", "weight-decay-dominates"),
        ("dead-relu", "unshuffled-loader"),
        ("dead-relu", "module-created-in-forward"),
        ("uniform-prediction", "unshuffled-loader"),
        ("lr-too-high", "unshuffled-loader"),
        ("params-unchanged", "vanishing-gradient"),
        ("nonfinite-forward", "not-log-probabilities"),
        ("first-batchnorm-statistics", "eval-mode-training"),
    ],
)
def test_a_consequence_comes_after_its_cause_and_asks_for_no_cure(consequence, cause):
    found = [
        Finding(rule=each, severity=severity, confidence=0.9, title=each)
        for each, severity in ((consequence, Severity.WARNING), (cause, Severity.WARNING))
    ]
    one = Rule(id="a", group="model", page="", check=lambda _run: iter(found))
    first, second = judge(Run(), lambda _rule, error: pytest.fail(str(error)), rules=(one,))
    assert (first.rule, first.causes, first.severity) == (cause, (), Severity.WARNING)
    assert (second.rule, second.causes, second.severity) == (consequence, (cause,), Severity.INFO)


def causes(**began):
    """Return, by rule, what findings that began at these steps are said to follow from."""
    found = [
        Finding(rule=name.replace("_", "-"), severity=Severity.WARNING, confidence=0.9, title=name, step=step)
        for name, step in began.items()
    ]
    one = Rule(id="a", group="model", page="", check=lambda _run: iter(found))
    told = judge(Run(), lambda _rule, error: pytest.fail(str(error)), rules=(one,))
    return [(each.rule, each.causes) for each in told]


@pytest.mark.parametrize(("dead", "vanishing"), [(0, 0), (40, 40), (0, 40), (40, 48)])
def test_dead_units_let_gradients_vanish(dead, vanishing):
    told = causes(dead_relu=dead, vanishing_gradient=vanishing)
    assert told == [("dead-relu", ()), ("vanishing-gradient", ("dead-relu",))]


def test_gradients_that_vanish_at_once_leave_units_dead_later():
    told = causes(dead_relu=40, vanishing_gradient=0)
    assert told == [("vanishing-gradient", ()), ("dead-relu", ("vanishing-gradient",))]
