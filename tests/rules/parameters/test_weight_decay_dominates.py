"""This file tests the rule on weight decay that dominates, on courses written by hand."""

import pytest

from torchmagic.rules.judgement import judge
from torchmagic.rules.parameters.weight_decay_dominates import MIN_FALL, MIN_TIMES, VANISHED, weight_decay_dominates

NAMES = ("net.weight", "net.bias")
SHRINKS = [10.0 * 0.8**step for step in range(30)]


def found(history, *, losses=(1.0,) * 30, lengths=SHRINKS, gradient=0.1, ratios=(0.2,) * 30, **changes):
    history.losses(list(losses)).group(**{"weight_decay": 1.0} | changes).updates(list(ratios), lengths=lengths)
    history.series("grad_norm", [gradient] * 30, NAMES)
    return list(weight_decay_dominates(history.run))


def test_a_decay_that_outweighs_gradients_while_weights_vanish_is_told(history):
    assert (MIN_TIMES, MIN_FALL) == (10.0, 10.0)
    (finding,) = found(history)
    assert (finding.severity, finding.line) == ("warning", 2)


def test_gradients_of_a_like_size_are_silent(history):
    assert found(history, gradient=2.0) == []


@pytest.mark.parametrize(("rate", "count"), [(0.8, 1), (0.88, 0)])
def test_where_hardly_anything_is_left_some_times_the_gradients_are_enough(history, rate, count):
    lengths = [10.0 * rate**step for step in range(30)]
    assert 10 < 1 / 0.88**29 < VANISHED < 1 / 0.8**29
    assert len(found(history, gradient=0.6, lengths=lengths)) == count


def test_weights_that_fall_by_less_are_silent(history):
    assert found(history, lengths=[10.0 - 0.3 * step for step in range(30)]) == []


def test_a_loss_that_improves_is_silent(history):
    assert found(history, losses=[1.0 - 0.02 * step for step in range(30)]) == []


@pytest.mark.parametrize(("noise", "count"), [(0.3, 1), (0.0, 0)])
def test_a_loss_that_improves_by_less_than_batches_differ_is_told(history, noise, count):
    losses = [1.0 - 0.004 * step + noise * (-1) ** step for step in range(30)]
    assert len(found(history, losses=losses)) == count


def test_a_loss_that_only_comes_down_to_where_guessing_gets_is_told(history):
    history.series("chance_loss", [0.5], ("loss",))
    assert len(found(history, losses=[1.0 - 0.02 * step for step in range(20)] + [0.6] * 10)) == 1


def test_a_rate_at_which_decay_moves_the_weights_far_follows_from_it(history):
    assert len(found(history, losses=[1.0 + 0.1 * step for step in range(30)])) == 1
    history.rates([0.1] * 30)
    causes = {finding.rule: finding.causes for finding in judge(history.run, pytest.fail)}
    assert causes["lr-too-high"] == ("weight-decay-dominates",)


def test_a_step_that_changes_what_is_left_by_much_follows_from_it(history):
    assert len(found(history, ratios=[0.9] * 30)) == 1
    causes = {finding.rule: finding.causes for finding in judge(history.run, pytest.fail)}
    assert causes["update-too-large"] == ("weight-decay-dominates",)


def test_no_decay_is_silent(history):
    assert found(history, weight_decay=0.0) == []


@pytest.mark.parametrize(("ratio", "count"), [(0.101, 1), (0.3, 0)])
def test_a_decoupled_decay_is_judged_by_what_the_step_did_beyond_it(history, ratio, count):
    assert len(found(history, decoupled=True, ratios=[ratio] * 30)) == count
