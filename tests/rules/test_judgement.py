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
