"""This file tests the rule on parameters that stand still, on shares written by hand."""

import math
from dataclasses import replace

from torchmagic.records.model import ParameterRecord
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


def test_updates_that_round_away_are_not_called_written_back(history):
    history.updates([0.01] * 10).series("update_swallowed", [1.0] * 10, NAMES)
    of_dtype(history, "bfloat16")
    (finding,) = found(history, [1.0])
    assert "round away" in finding.why
    assert "float()" in finding.fix
    (standing,) = found(type(history)().updates([0.0] * 10), [1.0])
    assert "round away" in standing.why


def of_dtype(history, dtype):
    """Make the weights of a history ones of a dtype; None for weights of no model that is known."""
    history.group()
    weights = [each for each in history.run.records if isinstance(each, ParameterRecord)]
    others = [each for each in history.run.records if each not in weights]
    history.run.records[:] = [*others, *([replace(each, dtype=dtype) for each in weights] if dtype else [])]
    history.group = lambda: history


def test_weights_that_are_float32_already_need_larger_steps(history):
    of_dtype(history, "float32")
    (finding,) = found(history, [1.0])
    assert finding.evidence["dtype"] == "float32"
    assert finding.fix == "raise the learning rate of opt, or the loss that its gradients come from"


def test_a_dtype_that_is_not_known_is_not_named(history):
    of_dtype(history, None)
    (finding,) = found(history, [1.0])
    assert "dtype" not in finding.evidence
    assert "neighbours in their dtype: they round away" in finding.why
    assert "not known" not in finding.fix + finding.title


def test_a_group_without_a_rate_on_record_is_told(history):
    history.group().series("grad_norm", [1.0] * 20).series("unchanged_share", [1.0], NAMES)
    assert len(list(params_unchanged(history.run))) == 1


def test_without_any_gradient_on_record_it_is_silent(history):
    assert found(history, [1.0], norms=()) == []


def test_shares_of_updates_that_are_none_are_left_out(history):
    history.updates([0.01] * 10).series("update_swallowed", [math.nan] * 10, NAMES)
    assert "writes the old values back" in found(history, [1.0])[0].why


def test_each_group_is_judged_by_its_own_rate_and_told_once(history):
    history.group(subject="opt[1]", parameters=("other",)).rates([0.0] * 20, "opt[1]")
    history.series("unchanged_share", [1.0], ("other",)).group()
    assert [finding.parameter for finding in found(history, [1.0])] == ["net.weight"]


def test_a_training_that_began_at_its_minimum_has_nothing_to_move(history):
    history.updates([0.0] * 20, norms=[1e-6] * 20).losses([0.5] * 20)  # weights of length 10
    history.group().series("unchanged_share", [1.0], NAMES)
    assert list(params_unchanged(history.run)) == []


def test_a_slope_that_could_still_be_followed_is_no_minimum(history):
    history.updates([0.0] * 20, norms=[1e-4] * 20).losses([0.5] * 20)
    history.group().series("unchanged_share", [1.0], NAMES)
    assert len(list(params_unchanged(history.run))) == 1


def test_a_loss_that_is_zero_but_for_rounding_leaves_nothing_to_move(history):
    history.updates([0.0] * 20).losses([1e-12] * 20)
    history.group().series("unchanged_share", [1.0], NAMES)
    assert len(list(params_unchanged(history.run))) == 1
    history.series("chance_loss", [2.0], ("loss",))
    assert list(params_unchanged(history.run)) == []


def test_a_search_along_lines_that_finds_no_step_is_at_its_minimum(history):
    found = {}
    for moved in (0.0, 0.1):
        other = type(history)().updates([moved] * 20).losses([0.5] * 20)
        other.group(class_name="LBFGS").series("unchanged_share", [1.0], NAMES)
        found[moved] = len(list(params_unchanged(other.run)))
    assert found == {0.0: 0, 0.1: 1}
