"""This file tests the rule on values that are read one by one, on records written by hand."""

import pytest

from torchmagic.records.feeding import HostReadsRecord
from torchmagic.records.finding import Severity
from torchmagic.records.place import Place
from torchmagic.rules.data.sync_in_loop import MIN_READS, sync_in_loop
from torchmagic.session.run import Run


def found(*counts):
    run = Run()
    for step, count in enumerate(counts):
        run.frame("host_reads", ("",)).append(step, (count,))
    run.records += [
        HostReadsRecord(
            num_reads=reads,
            num_steps=len(counts),
            methods=("item",),
            place=Place(file="<cell>", line=line, source=f"line {line}"),
        )
        for reads, line in ((3, 5), (60, 6))
    ]
    return list(sync_in_loop(run))


@pytest.mark.parametrize(("reads", "told"), [(7, 0), (8, 1), (300, 1)])
def test_eight_reads_a_step_are_told_at_the_line_of_most(reads, told):
    assert MIN_READS == 8
    assert [(each.severity, each.line) for each in found(reads, reads, reads)] == [(Severity.INFO, 6)] * told


def test_an_evaluation_in_one_of_the_steps_is_silent():
    assert found(2, 2, 900, 2) == []


def test_one_look_is_silent():
    assert found(900) == []
