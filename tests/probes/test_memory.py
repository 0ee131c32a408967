"""This file tests the record of memory against what the system says."""

import psutil
import pytest


def test_resident_memory_is_what_the_system_says(run_cell):
    run, _ = run_cell("pass")
    steps, values = run.series("rss_bytes")
    assert steps == [0, 0]
    assert values[-1] == pytest.approx(psutil.Process().memory_info().rss, rel=0.2)


def test_a_large_tensor_shows(run_cell):
    run, _ = run_cell("block = torch.ones(256 * 2**20 // 4)")  # more than what earlier work may have left free
    values = run.series("rss_bytes")[1]
    assert values[-1] - values[0] > 64 * 2**20


def test_memory_can_be_left_out(run_cell):
    run, _ = run_cell("pass", without="memory")
    assert run.series("rss_bytes") == ([], [])
