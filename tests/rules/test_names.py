"""What users type of rules and thresholds is checked against the rules that there are."""

import pytest

from torchmagic.rules.catalogue import RULES
from torchmagic.rules.names import check_rules, check_thresholds, explanation, rule_named, thresholds_of


def test_a_rule_is_found_by_its_id():
    assert rule_named("dead-relu").id == "dead-relu"


def test_an_unknown_rule_is_answered_with_the_nearest_one():
    with pytest.raises(ValueError, match="no rule 'dead-rel'; did you mean 'dead-relu'"):
        rule_named("dead-rel")


def test_patterns_must_name_at_least_one_rule():
    check_rules(("dead-*", "loss-broadcast"))
    with pytest.raises(ValueError, match=r"no rule 'deaf-\*'"):
        check_rules(("deaf-*",))


def test_a_threshold_must_be_one_of_its_rule_and_a_number():
    check_thresholds({"dead-relu.min_share": 0.7})
    with pytest.raises(ValueError, match=r"dead-relu has no threshold 'share'; it has dead-relu\.min_share"):
        check_thresholds({"dead-relu.share": 0.7})
    with pytest.raises(ValueError, match=r"must be a number, got '0\.7'"):
        check_thresholds({"dead-relu.min_share": "0.7"})


def test_a_rule_gets_its_own_thresholds_only():
    values = {"dead-relu.min_share": 0.7, "missing-zero-grad.min_streak": 9}
    assert thresholds_of(rule_named("dead-relu"), values) == {"min_share": 0.7}


@pytest.mark.parametrize("rule", RULES, ids=[rule.id for rule in RULES])
def test_thresholds_are_numbers(rule):
    assert all(isinstance(value, int | float) for value in rule.thresholds.values())


def test_an_explanation_is_the_page_and_the_thresholds():
    text = explanation("dead-relu")
    assert text.startswith("dead-relu\n\nMost units of a rectifier give zero")
    assert "Why it happens:" in text
    assert "dead-relu.min_share = 0.5" in text


def test_without_a_name_all_rules_are_listed():
    listed = explanation("").splitlines()
    assert sorted(line.split()[0] for line in listed if line.startswith("  ")) == sorted(rule.id for rule in RULES)
