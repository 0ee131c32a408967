"""This file tests the rule on frozen parameters in an optimizer, on records written by hand."""

from torchmagic.records.connection import GradientFlowRecord
from torchmagic.records.finding import Severity
from torchmagic.rules.parameters.frozen_in_optimizer import frozen_in_optimizer
from torchmagic.session.run import Run


def found(*frozen, groups=(0,)):
    run = Run()
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
            place=None,
        )
    )
    return list(frozen_in_optimizer(run))


def test_frozen_parameters_are_told_as_worth_knowing_with_their_groups():
    (finding,) = found("net.0.weight", "net.0.bias", groups=(0, 2))
    assert (finding.severity, finding.module, finding.parameter) == (Severity.INFO, "net.0", "net.0.weight")
    assert finding.evidence["parameter groups"] == "0, 2"


def test_an_optimizer_of_trainable_parameters_is_silent():
    assert found() == []
