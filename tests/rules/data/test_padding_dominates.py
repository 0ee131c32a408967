"""This file tests the rule on padding, on records written by hand."""

import pytest

from torchmagic.records.feeding import PaddingRecord
from torchmagic.records.finding import Severity
from torchmagic.rules.data.padding_dominates import padding_dominates
from torchmagic.session.run import Run


def found(*shares):
    run = Run()
    run.records += [
        PaddingRecord(model="net", module="net.0", step=step, share=share, place=None)
        for step, share in enumerate(shares)
    ]
    return [(each.severity, each.module) for each in padding_dominates(run)]


@pytest.mark.parametrize(("share", "told"), [(0.5, 0), (0.51, 1)])
def test_more_than_half_is_told(share, told):
    assert found(share, share, share) == [(Severity.INFO, "net.0")] * told


def test_one_short_batch_of_several_and_one_look_are_silent():
    assert found(0.9, 0.2, 0.2) == []
    assert found(0.9) == []


def test_each_table_is_judged_by_its_own_indices():
    run = Run()
    run.records += [
        PaddingRecord(model="net", module=module, step=step, share=share, place=None)
        for module, share in (("net.0", 0.9), ("net.4", 0.1))
        for step in range(3)
    ]
    assert [finding.module for finding in padding_dominates(run)] == ["net.0"]
