"""This file tests the rule on sums of several batches' mean losses, on records written by hand."""

from dataclasses import replace

import pytest

from torchmagic.records.finding import Severity
from torchmagic.records.loop import AccumulationRecord
from torchmagic.records.place import Place
from torchmagic.rules.training_loop.grad_accumulation_unscaled import grad_accumulation_unscaled
from torchmagic.session.run import Run

LINE = Place(file="<cell>", line=5, source="loss.backward()")


def sums(*counts):
    return [
        AccumulationRecord(optimizer="opt", step=step, num_backwards=count, criterion="cross_entropy", place=LINE)
        for step, count in enumerate(counts, start=1)
    ]


def found(*records, source="", **thresholds):
    run = Run(source=source)
    run.records += records
    return list(grad_accumulation_unscaled(run, **thresholds))


def test_three_steps_on_sums_are_enough():
    (finding,) = found(*sums(4, 4, 4))
    assert (finding.severity, finding.line, finding.optimizer) == (Severity.WARNING, 5, "opt")
    assert finding.evidence["backward passes a step"] == 4
    assert finding.fix == "(loss / 4).backward()"


def test_two_steps_are_silent_and_the_threshold_is_the_callers():
    assert found(*sums(4, 4)) == []
    assert len(found(*sums(4, 4), min_steps=2)) == 1
    assert found(*sums(2, 2, 2), min_batches=3) == []


@pytest.mark.parametrize(
    "line",
    [
        "p.grad /= k",
        "p.grad.div_(k)",
        "p.grad.data.mul_(1 / k)",
        "p.grad = p.grad / k",
        "torch._foreach_div_([p.grad for p in net.parameters()], k)",
    ],
)
def test_a_sum_that_is_divided_by_hand_is_silent(line):
    assert found(*sums(4, 4, 4), source=f"for p in net.parameters():\n    {line}\n") == []


@pytest.mark.parametrize("line", ["p.grad = None", "p.grad.zero_()", "norms.append(p.grad.norm())"])
def test_other_uses_of_gradients_change_nothing(line):
    assert len(found(*sums(4, 4, 4), source=f"for p in net.parameters():\n    {line}\n")) == 1


def test_two_batches_a_step_are_a_sum_and_each_optimizer_is_counted_by_itself():
    assert len(found(*sums(2, 2, 2))) == 1
    assert found(*sums(1, 1, 1)) == []
    other = [replace(record, optimizer="other") for record in sums(4, 4)]
    assert [finding.optimizer for finding in found(*sums(4, 4, 4), *other)] == ["opt"]
