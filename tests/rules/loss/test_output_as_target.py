"""This file tests the rule on outputs that are compared with themselves, on courses written by hand."""

import math

import pytest

from torchmagic.records.finding import Severity
from torchmagic.rules.loss.output_as_target import output_as_target


def found(history, losses, norms=None, criterion="mse_loss", **objective):
    history.losses(losses, criteria=(criterion,), **objective).group()
    history.series("grad_norm", norms if norms is not None else [0.0] * len(losses), ("",))
    return list(output_as_target(history.run))


def test_a_distance_that_is_always_0_is_told(history):
    (finding,) = found(history, [0.0] * 20)
    assert (finding.severity, finding.step) == (Severity.WARNING, 0)
    assert "mse_loss is 0 in each of 20 steps" in finding.title


def test_rounding_takes_a_divergence_from_0(history):
    (finding,) = found(history, [0.0, -2e-9, 1e-8] * 7, [3e-8] * 21, "kl_div")
    assert "kl_div is 1e-08" in finding.title


@pytest.mark.parametrize(
    ("losses", "norms", "criterion", "objective"),
    [
        ([0.0] * 9, None, "mse_loss", {}),
        ([0.0] * 20, [1e-9] * 20, "mse_loss", {}),
        ([0.0] * 20, [], "mse_loss", {}),
        ([0.0] * 19 + [1e-9], None, "l1_loss", {}),
        ([0.0] * 19 + [math.nan], None, "l1_loss", {}),
        ([0.0] * 20, None, "margin_ranking_loss", {}),
        ([0.0] * 20, None, "cross_entropy", {}),
        ([0.0] * 20, None, "mse_loss", {"mixed": True}),
    ],
)
def test_what_is_short_or_learns_or_may_be_0_is_silent(history, losses, norms, criterion, objective):
    assert found(history, losses, norms, criterion, **objective) == []
