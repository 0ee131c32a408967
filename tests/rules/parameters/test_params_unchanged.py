"""This file tests the rule on parameters that stand still, on shares written by hand."""

import math

from torchmagic.rules.parameters.params_unchanged import MIN_SHARE, params_unchanged

NAMES = ("net.weight", "net.bias")


def found(history, shares, *, rates=(0.1,) * 20, norms=(1.0,) * 20):
    history.group().rates(list(rates)).series("grad_norm", list(norms)).series("unchanged_share", shares, NAMES)
    return list(params_unchanged(history.run))


def test_a_group_that_never_moved_is_told_with_its_largest_parameter(history):
    assert MIN_SHARE == 0.95
    (finding,) = found(history, [1.0, 1.0])
    assert (finding.severity, finding.line, finding.parameter) == ("error", 2, "net.weight")


def test_the_share_is_that_of_all_elements_of_the_group(history):
    assert len(found(history, [(1.0, 0.92)])) == 1
    assert found(history, [(1.0, 0.88)]) == []  # the least share of all looks counts


def test_a_group_that_moved_at_one_look_is_silent(history):
    assert found(history, [1.0, 0.2, 1.0]) == []


def test_what_says_nothing_is_left_out(history):
    assert found(history, [math.nan]) == []
    assert len(found(history, [(1.0, math.nan)])) == 1


def test_a_rate_of_zero_is_to_blame_itself(history):
    assert found(history, [1.0], rates=[0.0] * 20) == []
    assert found(history, [1.0], rates=[0.0] * 5 + [0.1] * 15) == []


def test_gradients_of_zero_cannot_move_anything(history):
    assert found(history, [1.0], norms=[0.0] * 20) == []


def test_steps_that_move_and_are_written_back_are_told_as_such(history):
    history.updates([0.01] * 10)
    (finding,) = found(history, [1.0])
    assert "writes the old values back" in finding.why
