"""A finding is left out when a setting names its rule, or a comment on its line does."""

import pytest

from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.silencing import audible


def finding(rule="dead-relu", source=None):
    return Finding(rule=rule, severity=Severity.WARNING, confidence=0.9, title="x", source=source)


def test_without_a_wish_everything_is_said():
    found = [finding(), finding(source="loss.backward()  # a comment")]
    assert audible(found, ()) == found


@pytest.mark.parametrize("pattern", ["dead-relu", "dead-*", "*"])
def test_a_rule_named_in_the_settings_says_nothing(pattern):
    assert audible([finding()], (pattern,)) == []


def test_other_rules_go_on():
    assert audible([finding("lr-zero")], ("dead-relu",)) == [finding("lr-zero")]


@pytest.mark.parametrize(
    "comment",
    [
        "# torchmagic: ignore",
        "# torchmagic: ignore[dead-relu]",
        "#torchmagic:ignore[lr-zero, dead-relu]",
        "# torchmagic: ignore[dead-*]",
    ],
)
def test_a_comment_on_its_line_silences_a_finding(comment):
    assert audible([finding(source=f"net(x)  {comment}")], ()) == []


@pytest.mark.parametrize("comment", ["# torchmagic: ignore[lr-zero]", "# torchmagic: ignore[]", "# ignore[dead-relu]"])
def test_a_comment_about_something_else_silences_nothing(comment):
    assert len(audible([finding(source=f"net(x)  {comment}")], ())) == 1
