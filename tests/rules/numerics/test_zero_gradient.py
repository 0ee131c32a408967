"""This file tests the rule on gradients that are all zero, on series written by hand."""

import pytest

from torchmagic.records.finding import Severity
from torchmagic.records.loop import Idle, IdleStepRecord
from torchmagic.records.model import OptimizerRecord
from torchmagic.records.place import Place
from torchmagic.records.reach import ReachRecord
from torchmagic.rules.numerics.zero_gradient import zero_gradient
from torchmagic.session.run import Run

TEXT = "for x in xs:\n    loss = (net(x).round() - y).pow(2).mean()\n    loss.backward()\n    print(x.floor())\n"
BACKWARD = Place(file="<cell>", line=3, source="loss.backward()")


def reach(*flat, num_reached=4, flattened=()):
    return ReachRecord(
        loss="loss", place=BACKWARD, step=1, has_graph=True, num_nodes=9, num_reached=num_reached, models=("net",),
        unreached=(), num_unreached=0, frozen=(), num_frozen=0, untouched=(), num_other_leaves=0, opaque=(), flat=flat,
        flattened=flattened,
    )  # fmt: skip


def idle():
    return IdleStepRecord(
        optimizer="opt", step=3, why=Idle.RESET, count=1, steps=3, closure=False, computed=True, place=None, reset=None
    )


def found(norms, *records, loss=2.0, source=TEXT):
    run = Run()
    run.source, run.steps = source, len(norms)
    run.records.extend(records or [reach()])
    for step, norm in enumerate(norms):
        run.frame("grad_norm", ("",)).append(step, (norm,))
        run.frame("loss", ("loss",)).append(step, (loss,))
    return list(zero_gradient(run))


def test_an_operator_without_a_slope_is_named_with_its_line():
    (finding,) = found([0.0] * 20, reach("round"))
    assert (finding.severity, finding.line) == (Severity.ERROR, 2)
    assert finding.title == "all gradients are exactly 0 in 20 of 20 steps, although loss is 2"
    assert finding.why == "Each way from the loss to the parameters goes through round, whose slope is zero."
    assert "detach()" in finding.fix


def test_where_no_operator_was_seen_it_is_a_warning_at_the_backward():
    (finding,) = found([0.0] * 20)
    assert (finding.severity, finding.line) == (Severity.WARNING, 3)
    assert finding.evidence["operators without a slope"] == "none seen"


def test_an_operator_before_some_parameters_alone_is_not_why_all_are_zero():
    (finding,) = found([0.0] * 20, reach("round", flattened=("net.0.weight",)))
    assert finding.evidence["operators without a slope"] == "none seen"


def test_a_factor_is_told_in_words_at_the_backward():
    (finding,) = found([0.0] * 20, reach("mul"))
    assert finding.line == 3
    assert "a multiplication by zeros" in finding.why
    assert "retain_grad" in finding.fix


def test_of_several_lines_it_is_the_last_before_the_backward():
    (finding,) = found([0.0] * 20, reach("round"), source=TEXT.replace("floor", "round"))
    assert finding.line == 2
    (finding,) = found([0.0] * 20, reach("floor"))
    assert finding.line == 4


@pytest.mark.parametrize(
    ("norms", "records", "loss"),
    [
        ([0.0] * 9, (), 2.0),
        ([0.5] + [0.0] * 30, (), 2.0),
        ([0.0] * 18 + [0.1] * 2, (), 2.0),
        ([0.0] * 20, (), 0.0),
        ([0.0] * 20, (reach(), idle()), 2.0),
        ([0.0] * 20, (reach(num_reached=0),), 2.0),
    ],
    ids=["few steps", "not from the start", "a slope now and then", "no loss", "reset", "not connected"],
)
def test_what_has_another_reason_is_silent(norms, records, loss):
    assert found(norms, *records, loss=loss) == []


def test_a_step_in_twenty_may_have_a_slope():
    assert len(found([0.0] * 19 + [0.1])) == 1


def test_a_run_without_a_loss_is_silent():
    run = Run()
    for step in range(20):
        run.frame("grad_norm", ("",)).append(step, (0.0,))
    run.records.append(reach())
    assert list(zero_gradient(run)) == []


def partly(gradients, *, parameters=("net.0.weight", "net.0.bias"), steps=20):
    run = Run()
    run.source, run.steps = TEXT, steps
    run.records.append(reach("round", flattened=("net.0.weight",)))
    run.records.append(OptimizerRecord(name="opt", class_name="SGD", lr=(0.1,), parameters=parameters, place=None))
    for step in range(steps):
        run.frame("grad_norm", ("",)).append(step, (1.0,))
    for step, norm in enumerate(gradients):
        run.frame("grad_norm", ("net.0.weight", "net.0.bias")).append(step, (norm, 1.0))
    return list(zero_gradient(run))


def test_parameters_behind_it_are_told_beside_others_that_learn():
    (finding,) = partly([0.0] * 3)
    assert (finding.severity, finding.line, finding.parameter) == (Severity.ERROR, 2, "net.0.weight")
    assert (finding.module, finding.title) == ("net.0", "net.0.weight gets gradients of exactly 0: round has no slope")


def test_parameters_that_had_a_gradient_or_were_hardly_looked_at_or_are_nobodys_are_silent():
    assert partly([0.0, 0.0, 0.1]) == []
    assert partly([0.0] * 2) == []
    assert partly([0.0] * 3, parameters=("net.0.bias",)) == []
    assert partly([0.0] * 3, steps=9) == []
