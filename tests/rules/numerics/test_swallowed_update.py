"""This file tests the rule on updates that precision swallows, on shares written by hand."""

import math
from dataclasses import replace

import pytest

from torchmagic.records.model import ParameterRecord
from torchmagic.rules.numerics.swallowed_update import swallowed_update

NAMES = ("net.weight", "net.bias")


def found(history, shares, *, dtype="bfloat16"):
    history.group().series("update_swallowed", shares, NAMES)
    records = history.run.records
    records[:] = [replace(each, dtype=dtype) if isinstance(each, ParameterRecord) else each for each in records]
    return list(swallowed_update(history.run))


def test_updates_most_of_which_round_away_are_told(history):
    (finding,) = found(history, [0.6] * 5)
    assert (finding.severity, finding.parameter, finding.line) == ("warning", "net.weight", 2)


def test_half_of_an_update_is_silent(history):
    assert found(history, [0.5] * 5) == []


def test_the_usual_step_counts(history):
    assert found(history, [0.9, 0.2, 0.1]) == []


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_wider_weights_are_silent(history, dtype):
    assert found(history, [0.9] * 5, dtype=dtype) == []


def test_one_look_is_too_few(history):
    assert found(history, [0.9]) == []


def test_two_looks_are_enough_and_those_that_are_none_do_not_count(history):
    assert len(found(history, [0.9, 0.9])) == 1
    assert found(type(history)(), [0.9, math.nan]) == []


def test_a_group_whose_facts_came_twice_is_told_once(history):
    assert len(found(history.group(), [0.9] * 5)) == 1
