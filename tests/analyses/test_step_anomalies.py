"""Steps whose loss or gradients are not sound are counted once each."""

import math

import pytest

from torchmagic.analyses.step_anomalies import step_anomalies
from torchmagic.session.run import Run


def run_with(losses=(), norms=()):
    run = Run()
    for step, value in enumerate(losses):
        run.frame("loss", ("",)).append(step, (value,))
    for step, value in enumerate(norms):
        run.frame("grad_norm", ("",)).append(step, (value,))
    run.steps = max(len(losses), len(norms))
    return run


@pytest.mark.parametrize(
    ("losses", "norms", "expected"),
    [
        ((), (), (0, 0, 0, 0, 0)),
        ((1.0, 0.5), (2.0, 1000.0), (2, 0, 0, 0, 0)),
        ((1.0, math.nan, math.inf), (), (3, 2, 0, 0, 2)),
        ((), (1000.1, math.inf, math.nan), (3, 0, 3, 0, 3)),
        ((), (0.0, 1e-7, 1e-6), (3, 0, 0, 2, 2)),
        ((math.nan, 1.0), (math.nan, 1e-9), (2, 1, 1, 1, 2)),
    ],
)
def test_each_kind_is_counted(losses, norms, expected):
    found = step_anomalies(run_with(losses, norms))
    assert (found.steps, found.losses, found.exploding, found.vanishing, found.anomalous) == expected


def test_norms_of_single_parameters_do_not_count():
    run = run_with(norms=(1.0,))
    run.frame("grad_norm", ("bias",)).append(0, (1e-9,))
    assert step_anomalies(run).anomalous == 0


def test_two_losses_of_one_step_are_one_step():
    run = run_with(losses=(math.nan,))
    run.frame("loss", ("second",)).append(0, (math.nan,))
    assert step_anomalies(run).losses == 1
