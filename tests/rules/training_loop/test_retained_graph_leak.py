"""This file tests the rule on graphs that live on, on records written by hand."""

import pytest

from torchmagic.records.finding import Severity
from torchmagic.records.memory import RetainedGraphRecord
from torchmagic.records.place import Place
from torchmagic.rules.training_loop.retained_graph_leak import retained_graph_leak
from torchmagic.session.run import Run

LINE = Place(file="<cell>", line=6, source="total += loss")


def found(counts, *, holders=("total",), source="", oldest=0, **thresholds):
    run = Run(source=source)
    for step, count in counts.items():
        run.frame("live_graphs", ("",)).append(step, (float(count),))
    step, most = max(counts.items(), key=lambda item: item[1])
    if most >= 4:
        kept = 1 << 20 if holders else None
        record = RetainedGraphRecord(step=step, count=most, oldest=oldest, holders=holders, num_bytes=kept, place=LINE)
        run.records.append(record)
    return list(retained_graph_leak(run, **thresholds))


GROWING = {0: 0, 1: 0, 2: 1, 4: 3, 8: 7, 16: 15, 32: 31}


def test_graphs_that_grow_with_the_steps_are_told_at_the_line_that_keeps_them():
    (finding,) = found(GROWING)
    assert (finding.severity, finding.line) == (Severity.WARNING, 6)
    assert finding.evidence["held by"] == "total"
    assert finding.evidence["MiB kept, at least"] == 1.0


def test_without_a_variable_it_is_less_sure():
    (unknown,), (known,) = found(GROWING, holders=()), found(GROWING)
    assert unknown.confidence < known.confidence
    assert "held by" not in unknown.evidence


@pytest.mark.parametrize(
    "counts",
    [
        {0: 0, 1: 0, 2: 0, 4: 0, 8: 0, 16: 0},
        {0: 0, 1: 0, 2: 1, 4: 3, 6: 4},
        {0: 0, 2: 1, 4: 3, 8: 7, 16: 10, 32: 10, 64: 10, 96: 10},
        {0: 0, 8: 0, 16: 0, 32: 2, 64: 4, 128: 8},
    ],
)
def test_none_few_a_full_store_and_a_slow_trickle_are_silent(counts):
    assert found(counts) == []


def test_a_sum_that_is_let_go_of_at_each_pass_grows_in_between():
    assert len(found({0: 0, 2: 1, 4: 3, 8: 7, 16: 15, 32: 1, 64: 9, 96: 0})) == 1


@pytest.mark.parametrize(("counts", "oldest"), [({0: 0, 1: 0, 2: 45, 4: 0, 8: 0}, 0), ({32: 0, 64: 45, 96: 0}, 61)])
def test_many_graphs_of_a_step_or_two_are_no_leak(counts, oldest):
    assert found(counts, oldest=oldest) == []


def test_thresholds_are_the_callers():
    assert found(GROWING, min_graphs=32) == []
    assert found(GROWING, min_growth=1.1) == []
