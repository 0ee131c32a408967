"""This file tests the record of memory against what the system says."""

import psutil
import pytest

from torchmagic.probes.free_memory import free_bytes


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


def test_what_is_free_is_asked_at_the_start_and_then_once_a_second(run_cell):
    run, _ = run_cell(
        """
        import time
        net = nn.Linear(2, 2)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for i in range(30):
            net(torch.ones(1, 2)).sum().backward()
            opt.step()
            time.sleep(0.03)
        """
    )
    assert len(run.series("rss_bytes")[1]) > 20
    free = run.series("free_bytes")[1]
    assert len(free) <= 2
    assert 0 < free[0] <= psutil.virtual_memory().total


def test_the_limit_of_a_container_counts_with_what_it_can_drop(tmp_path):
    for name, text in (
        ("memory.max", "1000000\n"),
        ("memory.current", "700000\n"),
        ("memory.stat", "anon 500000\ninactive_file 100000\nactive_file 9\n"),
    ):
        (tmp_path / name).write_text(text)
    assert free_bytes(group=tmp_path) == 400_000
    (tmp_path / "memory.max").write_text("max\n")
    assert free_bytes(group=tmp_path) > 2**20
    assert free_bytes(group=tmp_path / "none") > 2**20
