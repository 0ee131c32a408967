"""The history of a debugger is bounded, its sums are those of all operations, and slow is told from usual."""

import math
import statistics
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchmagic.api.debugging.history import LEAST, MOST_KEPT, MOST_NAMES, OTHERS, History, Sums
from torchmagic.api.debugging.info import DebugInfo, DebugMetrics
from torchmagic.api.debugging.meter import Measured, Meter


def operation(name="step", seconds=0.1, **fields):
    return DebugInfo(operation=name, measured=Measured(seconds=seconds, memory=1.0), **fields)


@given(st.lists(st.one_of(st.none(), st.floats(-1e9, 1e9), st.sampled_from([math.nan, math.inf]))))
def test_sums_are_those_of_the_finite_values(values):
    sums = Sums()
    for value in values:
        sums.add(value)
    finite = [value for value in values if value is not None and math.isfinite(value)]
    if not finite:
        assert (sums.mean, sums.ends) == (None, (None, None))
    else:
        assert sums.mean == pytest.approx(statistics.fmean(finite), abs=1e-3)
        assert sums.ends == (min(finite), max(finite))


def test_the_newest_operations_are_kept_and_all_are_counted():
    history = History()
    for number in range(MOST_KEPT + 10):
        history.add(operation(batch=number, gradient_norm=float(number), anomaly_detected=number % 2 == 0))
    assert [info.batch for info in history.entries] == list(range(10, MOST_KEPT + 10))
    totals = history.totals
    assert (totals.number, totals.anomalies) == (MOST_KEPT + 10, (MOST_KEPT + 10) // 2)
    assert totals.gradient_norm.ends == (0.0, MOST_KEPT + 9.0)
    history.clear()
    assert (history.entries, history.totals.number) == ([], 0)


def test_names_without_end_are_counted_as_others():
    history = History()
    for number in range(MOST_NAMES + 5):
        history.add(operation(f"batch_{number}"))
    assert len(history.totals.operations) == MOST_NAMES + 1
    assert history.totals.operations[OTHERS] == 5


def test_only_the_newest_operation_keeps_its_details():
    history = History()
    for _ in range(3):
        history.add(operation(details={"gradients": {"weight": {"norm": 1.0}}}))
    assert [bool(info.details) for info in history.entries] == [False, False, True]


def test_slow_is_far_longer_than_usual_and_never_by_a_clock_alone():
    history = History()
    assert not history.is_slow("epoch", 10_000.0)
    for _ in range(LEAST):
        history.add(operation("epoch", seconds=600.0))
        history.add(operation("tick", seconds=0.001))
    assert not history.is_slow("epoch", 1_700.0)
    assert history.is_slow("epoch", 1_900.0)
    assert not history.is_slow("tick", 0.05), "a hiccup of a few milliseconds is nothing"
    assert not history.is_slow("other", 1_900.0)


def test_the_usual_norm_is_that_of_recent_finite_ones():
    history = History()
    for norm in (1.0, math.nan, 2.0, None, 3.0, math.inf, 4.0):
        history.add(operation(gradient_norm=norm))
    assert history.usual_norm is None
    history.add(operation(gradient_norm=100.0))
    assert history.usual_norm == 3.0


def test_an_operation_is_measured_live_and_stands_still_afterwards():
    info = DebugInfo(operation="step", measured=Meter())
    assert info.is_open
    first = info.execution_time
    time.sleep(0.002)
    assert info.execution_time >= first + 0.002
    held = bytearray(64 * 2**20)
    held[::4096] = b"x" * len(held[::4096])
    assert info.memory_usage > 40
    info.close()
    assert not info.is_open
    assert info.execution_time == info.execution_time >= first + 0.002
    info.close()
    assert info.gpu_memory is None
    assert info.to_dict()["memory_usage"] == info.memory_usage > 40


def test_the_metrics_of_one_document_are_the_info_of_the_other():
    assert DebugMetrics is DebugInfo
