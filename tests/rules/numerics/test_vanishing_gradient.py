"""This file tests the rule on gradients that are lost on their way back, on series written by hand."""

import math
from dataclasses import replace

import pytest

from torchmagic.records.activation import ActivationRecord
from torchmagic.records.finding import Severity
from torchmagic.records.model import ParameterRecord
from torchmagic.records.objective import GroupRecord
from torchmagic.rules.numerics.vanishing_gradient import vanishing_gradient
from torchmagic.session.run import Run


def found(*rows, losses=(2.3, 2.3), steps=40, order=("net.0", "net.2", "net.4"), phase=0, curve=None):
    """Return the findings for looks that give the gradient norm of three weights of four values each."""
    run = Run()
    run.steps = steps
    for name in ("net.0", "net.2", "net.4"):
        run.records.append(
            ParameterRecord(
                name=f"{name}.weight",
                model="net",
                module=name,
                shape=(2, 2),
                dtype="float32",
                device="cpu",
                trainable=True,
            )
        )
    for name in order:
        run.records.append(ActivationRecord(module=name, class_name="Linear", inputs=(), outputs=()))
    for place, row in enumerate(rows):
        run.frame("grad_norm", ("net.0.weight", "net.2.weight", "net.4.weight")).append(place, row)
    for step in range(steps):
        value = curve[step] if curve else losses[0] if step < steps / 2 else losses[1]
        run.frame("loss", ("",)).append(step, (value,))
    run.records.append(replace(GROUP, step=phase))
    return list(vanishing_gradient(run))


GROUP = GroupRecord(
    optimizer="opt", class_name="SGD", subject="opt", parameters=(), num_elements=8, lr=0.1, weight_decay=0.0,
    decoupled=False, maximize=False, step=0, built=None,
)  # fmt: skip
LOST = (1e-9, 1e-4, 1.0)


def test_the_first_layer_that_gets_a_millionth_of_the_last_one_is_named():
    (finding,) = found(*[LOST] * 5)
    assert (finding.severity, finding.module) == (Severity.WARNING, "net.0")
    (finding,) = found(*[(1e-4, 1e-9, 1.0)] * 5)
    assert finding.module == "net.2"


def test_layers_come_in_the_order_in_which_they_run():
    assert found(*[LOST] * 5, order=("net.4", "net.2", "net.0")) == []


def test_four_fifths_of_the_looks_are_needed():
    assert len(found(*[LOST] * 4, (1e-3, 1e-2, 1.0))) == 1
    assert found(*[LOST] * 3, *[(1e-3, 1e-2, 1.0)] * 2) == []


@pytest.mark.parametrize(("ends", "number"), [((2.3, 2.19), 1), ((2.3, 2.18), 0), ((2.3, 9.0), 1)])
def test_a_loss_that_improves_by_five_percent_is_enough(ends, number):
    assert len(found(*[LOST] * 5, losses=ends)) == number


def test_no_gradient_at_all_is_dead_or_unused_and_has_rules_of_its_own():
    assert found(*[(0.0, 0.1, 1.0)] * 5) == []


def test_zeros_before_a_layer_with_next_to_nothing_belong_to_it():
    (finding,) = found(*[(0.0, 1e-9, 1.0)] * 5)
    assert finding.module == "net.0"


@pytest.mark.parametrize(
    "rows",
    [[LOST], [(1e-9, 1e-4, 0.0)] * 5, [(math.inf, 1e-9, 1.0)] * 5, [(math.nan, math.nan, math.nan)] * 5],
    ids=["one look", "no gradient at the end", "infinite", "unknown"],
)
def test_what_cannot_be_compared_is_silent(rows):
    assert found(*rows) == []


def test_a_few_steps_say_nothing():
    assert found(*[LOST] * 5, steps=9) == []


def test_a_last_layer_without_a_gradient_is_no_measure_and_an_unknown_loss_is_none():
    assert found(*[(0.0, 0.0, 0.0)] * 5) == []
    assert found(*[LOST] * 5, losses=(math.nan, math.nan)) == []


def test_a_loss_that_rose_did_not_fall_by_less_than_nothing():
    (finding,) = found(LOST, LOST, LOST, LOST, LOST, losses=(2.3, 2.31))
    assert finding.evidence["the loss rose by"] == "0.4%"
    (finding,) = found(LOST, LOST, LOST, LOST, LOST)
    assert finding.evidence["the loss fell by"] == "0.0%"


def test_where_the_loss_of_the_last_phase_falls_nothing_is_lost():
    steps = [*[0.02] * 20, *(2.3 * 0.9**step for step in range(20))]
    assert len(found(*[LOST] * 5, curve=steps)) == 1
    assert found(*[LOST] * 5, curve=steps, phase=20) == []
