"""This file is the order in which findings are read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchmagic.records.finding import Finding, Severity
from torchmagic.views.page import Findings, Page
from torchmagic.views.skins.html import as_html
from torchmagic.views.skins.markdown import as_markdown
from torchmagic.views.skins.reading_order import alike_words, reading_order
from torchmagic.views.skins.text import as_text
from torchmagic.views.skins.wire import as_wire


def finding(rule, *causes, confidence=0.9):
    return Finding(rule=rule, severity=Severity.WARNING, confidence=confidence, title=rule, causes=causes)


def dead(module, **other):
    said = {"line": 9, "why": "Their arguments are negative.", "fix": "lower the rate", "confidence": 0.9} | other
    return Finding(rule="dead", severity=Severity.WARNING, title=f"{module} is dead", module=module, **said)


def read_alike(*findings):
    return [(root.finding.module, [one.module for one in root.alike]) for root in reading_order(findings)]


def read(*findings):
    return [(root.finding.rule, [one.rule for one in root.consequences]) for root in reading_order(findings)]


def test_a_finding_goes_under_its_cause_wherever_the_cause_stands():
    assert read(finding("b", "a"), finding("a")) == [("a", ["b"])]


def test_a_consequence_of_a_consequence_goes_under_the_root():
    assert read(finding("a"), finding("b", "a"), finding("c", "b")) == [("a", ["b", "c"])]


def test_a_finding_without_its_cause_at_hand_is_a_root():
    assert read(finding("b", "a"), finding("c")) == [("b", []), ("c", [])]


def test_findings_that_cause_each_other_all_stay_in_sight():
    assert read(finding("a", "b"), finding("b", "a"), finding("c", "c")) == [("a", []), ("b", []), ("c", [])]


def test_a_certain_finding_is_never_hidden_under_a_doubtful_one():
    assert read(finding("a", confidence=0.4), finding("b", "a")) == [("b", []), ("a", [])]


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.lists(st.sampled_from("abcd"), max_size=3), st.floats(0, 1))))
def test_no_finding_is_lost_or_shown_twice(drawn):
    findings = [finding(rule, *causes, confidence=sure) for rule, causes, sure in drawn]
    shown = [id(one) for root in reading_order(findings) for one in (root.finding, *root.consequences)]
    assert sorted(shown) == sorted(map(id, findings))


def test_several_findings_of_one_rule_all_appear():
    assert read(finding("a"), finding("a"), finding("b", "a")) == [("a", ["b"]), ("a", [])]


def test_what_is_said_of_several_places_is_read_once():
    assert read_alike(dead("a"), dead("b"), dead("c")) == [("a", ["b", "c"])]
    (root,) = reading_order([dead(name) for name in "abcdefg"])
    assert alike_words(root) == "6 more like this: b, c, d, e and 2 more"


def test_what_is_said_otherwise_or_elsewhere_stands_for_itself():
    others = [dead("b", line=4), dead("c", fix="raise it"), dead("d", confidence=0.4), dead("e", why="Because.")]
    assert [module for module, alike in read_alike(dead("a"), *others) if not alike] == ["a", "b", "c", "e", "d"]


def test_what_follows_stands_under_the_first_of_those_alike():
    (root,) = reading_order([dead("a"), finding("b", "dead"), dead("c")])
    assert ([one.module for one in root.alike], [one.rule for one in root.consequences]) == (["c"], ["b"])


@pytest.mark.parametrize("written", [as_text, as_markdown, as_html, lambda page: str(as_wire(page))])
def test_those_alike_are_told_in_every_skin(written):
    told = written(Page(title="", blocks=[Findings(findings=[dead("net.1"), dead("net.3"), dead("net.5")])]))
    assert told.count("lower the rate") in {1, 3}
    assert all(name in told for name in ("net.1", "net.3", "net.5"))
