"""This file tests what a rule must not be deceived by: each sound cell is silent, and its sick twin is told.

The twin differs by a word or two, so that a cell which is silent for another reason does not pass.
"""

import sys
import warnings
from pathlib import Path

import pytest

from torchmagic.rules.causes import FOLLOWS_FROM

sys.path.insert(0, str(Path(__file__).parent))
import scripts as scripts_file  # they lie beside this file
from exception_cells import CASES, IMPORTS


def told(source, path):
    """Return the rules that a cell sets off; its lines can be read, as those of a cell can."""
    path.write_text(IMPORTS + source, encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of some of the twins itself
        run, error = scripts_file.watched(IMPORTS + source, str(path))
    assert error is None, error
    return {finding.rule for finding in run.findings}


@pytest.mark.parametrize(
    ("rule", "sound", "changes"),
    [(rule, sound, changes) for rule, _, sound, *changes in CASES],
    ids=[f"{rule}: {what}" for rule, what, *_ in CASES],
)
def test_what_is_meant_is_silent_and_its_twin_is_told(rule, sound, changes, tmp_path):
    sick = sound
    for old, new in changes:
        assert old in sick
        sick = sick.replace(old, new)
    assert rule not in told(sound, tmp_path / "sound.py")
    assert rule in told(sick, tmp_path / "sick.py")


@pytest.mark.parametrize(
    ("rule", "better"),
    [
        ("params-unchanged", "lr-zero"),
        ("params-unchanged", "amp-overflow-skips"),
        ("params-unchanged", "detached-loss"),
        ("vanishing-gradient", "dead-relu"),
        ("loss-not-decreasing", "detached-loss"),
    ],
)
def test_what_a_more_specific_rule_explains_follows_from_it(rule, better):
    assert better in FOLLOWS_FROM[rule]
