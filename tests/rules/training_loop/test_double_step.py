"""This file tests the rule on steps that use gradients twice, on records written by hand."""

from dataclasses import replace

from torchmagic.records.connection import ReusedGradientsRecord
from torchmagic.records.finding import Severity
from torchmagic.records.model import OptimizerRecord
from torchmagic.records.place import Place
from torchmagic.rules.training_loop.double_step import MIN_PAIRS, double_step
from torchmagic.session.run import Run


def reused(times, *, same=True, optimizer="opt", earlier="opt"):
    return [
        ReusedGradientsRecord(
            optimizer=optimizer,
            earlier=earlier,
            same=same,
            step=2 * number,
            parameters=("net.weight",),
            num_shared=2,
            num_pairs=number,
            place=Place(file="<cell>", line=8, source="opt.step()"),
            earlier_place=Place(file="<cell>", line=7, source="first.step()"),
        )
        for number in range(1, times + 1)
    ]


def found(*records):
    run = Run()
    run.records += records
    return list(double_step(run))


def test_three_steps_on_used_gradients_are_told_at_the_second_step():
    assert MIN_PAIRS == 3
    (finding,) = found(*reused(3))
    assert (finding.severity, finding.optimizer, finding.line) == (Severity.WARNING, "opt", 8)
    assert finding.evidence["line of the first step"] == 7


def test_two_are_silent():
    assert found(*reused(2)) == []


def test_two_optimizers_are_another_rules_matter():
    assert found(*reused(5, same=False, earlier="first")) == []


def test_an_optimizer_that_searches_along_a_line_is_silent():
    searching = OptimizerRecord(name="opt", class_name="LBFGS", lr=(1.0,), parameters=())
    assert found(searching, *reused(5)) == []


def test_an_optimizer_beside_one_that_searches_is_told():
    searching = OptimizerRecord(name="other", class_name="LBFGS", lr=(1.0,), parameters=())
    plain = OptimizerRecord(name="opt", class_name="SGD", lr=(0.1,), parameters=())
    assert len(found(*reused(3), searching, plain)) == 1


def test_each_optimizer_is_counted_by_itself():
    findings = found(*reused(3), *reused(2, optimizer="b", earlier="b"), *reused(4, optimizer="c", earlier="c"))
    assert [(each.optimizer) for each in findings] == ["opt", "c"]


def test_gradients_from_before_the_run_lack_a_backward():
    assert found(*(replace(each, made_before=True) for each in reused(9))) == []
