"""What is in use, and a warning in the log for what is above its threshold."""

import json
import logging
import time

import psutil
import pytest
import torch

from torchmagic.guard import resources
from torchmagic.guard.resources import monitor_resources


def test_the_numbers_are_those_of_the_machine():
    report = monitor_resources()
    assert 0 <= report.cpu_percent <= 100
    assert report.memory_percent == pytest.approx(psutil.virtual_memory().percent, abs=10)
    assert report.process_memory == pytest.approx(psutil.Process().memory_info().rss / 2**20, rel=0.1)
    assert report.memory_available > 0
    assert (report.gpu_memory is None) == (not torch.cuda.is_initialized())
    assert json.loads(json.dumps(report.to_dict()))["process_memory"] == report.process_memory


def test_what_is_too_high_is_in_the_log(caplog):
    with caplog.at_level(logging.WARNING, logger="torchmagic.guard"):
        report = monitor_resources(cpu_percent=None, memory_percent=0, process_memory=0)
    assert not report.ok
    assert report.warnings == (
        f"High memory usage: {report.memory_percent:.1f}%",
        f"High memory usage of this process: {report.process_memory:.1f}MB",
    )
    assert [record.getMessage() for record in caplog.records] == list(report.warnings)
    assert {record.levelname for record in caplog.records} == {"WARNING"}


def test_thresholds_that_are_met_are_silent(caplog):
    report = monitor_resources(cpu_percent=100, memory_percent=100, process_memory=1e9)
    assert report.ok
    assert caplog.records == []


def test_a_busy_processor_is_seen():
    monitor_resources()
    spent = psutil.cpu_times()
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        pass
    now = psutil.cpu_times()
    report = monitor_resources()
    whole = sum(now) - sum(spent)
    busy = whole - (now.idle - spent.idle) - (getattr(now, "iowait", 0) - getattr(spent, "iowait", 0))
    assert report.cpu_percent == pytest.approx(100 * busy / whole, abs=25)
    assert report.cpu_percent > 10


def test_looks_that_follow_closely_do_not_wait():
    first = monitor_resources()
    start = time.perf_counter()
    second = monitor_resources()
    assert time.perf_counter() - start < resources.SHORTEST
    assert second.cpu_percent == first.cpu_percent or time.perf_counter() - start > 0.05


def test_the_users_own_measurement_by_psutil_is_not_disturbed(monkeypatch):
    def stop(*_args, **_more):
        raise AssertionError("psutil keeps the last look of its caller")

    monkeypatch.setattr(psutil, "cpu_percent", stop)
    monitor_resources()


@pytest.mark.parametrize(
    "name", ["cpu_percent", "memory_percent", "process_memory", "gpu_memory", "gpu_memory_percent"]
)
def test_a_wrong_threshold_is_one_line(name):
    with pytest.raises(ValueError, match=f"{name} is a number of 0 or more, or None, -1 came"):
        monitor_resources(**{name: -1})
