"""This file is the order in which findings are read."""

from hypothesis import given
from hypothesis import strategies as st

from torchmagic.records.finding import Finding, Severity
from torchmagic.views.skins.reading_order import reading_order


def finding(rule, *causes, confidence=0.9):
    return Finding(rule=rule, severity=Severity.WARNING, confidence=confidence, title=rule, causes=causes)


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
