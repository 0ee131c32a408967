"""This file tests the rule on parameters of two optimizers, on records written by hand."""

from torchmagic.records.connection import ReusedGradientsRecord
from torchmagic.records.finding import Severity
from torchmagic.records.place import Place
from torchmagic.rules.parameters.shared_parameter_optimizers import MIN_PAIRS, shared_parameter_optimizers
from torchmagic.session.run import Run


def reused(times, *, same=False, optimizer="opt", earlier="first"):
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
    return list(shared_parameter_optimizers(run))


def test_three_steps_of_two_optimizers_on_the_same_gradients_are_told():
    assert MIN_PAIRS == 3
    (finding,) = found(*reused(3))
    assert (finding.severity, finding.optimizer, finding.parameter) == (Severity.WARNING, "opt", "net.weight")
    assert "first and opt both step 2 parameters" in finding.title


def test_a_change_from_one_optimizer_to_the_next_is_silent():
    assert found(*reused(2)) == []


def test_one_optimizer_that_steps_twice_is_another_rules_matter():
    assert found(*reused(5, same=True, earlier="opt")) == []


def test_both_orders_of_a_pair_are_one_finding():
    assert len(found(*reused(3), *reused(3, optimizer="first", earlier="opt"))) == 1
