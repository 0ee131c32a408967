"""A finding's place and evidence are told in words, and the user's own names are left as they are."""

import pytest

from torchmagic.records.finding import Finding, Severity
from torchmagic.views.skins.finding_words import evidence, place, remedy


def finding(**given):
    return Finding(rule="a-rule", severity=Severity.ERROR, confidence=0.9, title="it is wrong", why="", fix="", **given)


@pytest.mark.parametrize(
    ("name", "said"), [("opt", "optimizer opt"), ("optimizer", "optimizer"), ("d_optimizer", "d_optimizer")]
)
def test_an_optimizer_is_called_one_once(name, said):
    assert place(finding(optimizer=name)) == [(said, "")]


def test_names_in_the_evidence_keep_their_underscores():
    told = evidence(finding(evidence={"x_train": "(32, 64)", "steps of d_optimizer": 8}))
    assert told == [("x_train", "(32, 64)"), ("steps of d_optimizer", "8")]


def test_a_fix_that_is_only_a_comment_is_a_sentence():
    assert remedy("# nothing, if it was trained before") == ("nothing, if it was trained before", "")
    assert remedy("opt.step()  # once a batch") == ("opt.step()  # once a batch", "")
