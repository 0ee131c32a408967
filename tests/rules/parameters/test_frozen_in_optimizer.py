"""This file tests the rule on frozen parameters in an optimizer, on records written by hand."""

from torchmagic.records.connection import GradientFlowRecord
from torchmagic.records.finding import Severity
from torchmagic.records.objective import GroupRecord
from torchmagic.records.place import Place
from torchmagic.rules.parameters.frozen_in_optimizer import frozen_in_optimizer
from torchmagic.session.run import Run

STEP = Place(file="<cell>", line=9, source="opt.step()")
BUILT = Place(file="<cell>", line=2, source="opt = SGD(net.parameters())")
GROUP = {
    "optimizer": "opt",
    "class_name": "SGD",
    "subject": "opt",
    "parameters": ("net.0.weight",),
    "num_elements": 2,
    "lr": 0.1,
    "weight_decay": 0.0,
    "decoupled": False,
    "maximize": False,
    "step": 0,
}


def found(*frozen, groups=(0,), built=None):
    run = Run()
    if built is not None:
        run.records.append(GroupRecord(**{**GROUP, "built": built}))
    run.records.append(
        GradientFlowRecord(
            optimizer="opt",
            steps=4,
            num_trainable=2,
            num_received=2,
            frozen=frozen,
            num_frozen=len(frozen),
            groups=groups if frozen else (),
            twin="",
            num_backwards=4,
            place=STEP,
        )
    )
    return list(frozen_in_optimizer(run))


def test_frozen_parameters_are_told_as_worth_knowing_with_their_groups():
    (finding,) = found("net.0.weight", "net.0.bias", groups=(0, 2))
    assert (finding.severity, finding.module, finding.parameter) == (Severity.INFO, "net.0", "net.0.weight")
    assert finding.evidence["parameter groups"] == "0, 2"


def test_an_optimizer_of_trainable_parameters_is_silent():
    assert found() == []


def test_the_place_is_where_the_optimizer_is_built_else_where_it_steps():
    assert [each.line for each in found("net.0.weight", built=BUILT)] == [2]
    assert [each.line for each in found("net.0.weight")] == [9]
