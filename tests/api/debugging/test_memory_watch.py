"""Memory of this very process: a leak of 1 MB a look is found, and looking alone is none."""

import mmap

from torchmagic.api.debugging.memory_watch import BETWEEN_TRENDS, MemoryWatch
from torchmagic.api.debugging.meter import process_memory

LOOKS = 4 * BETWEEN_TRENDS


def test_a_leak_of_one_megabyte_a_look_is_found():
    watch, kept = MemoryWatch(), []
    for _ in range(LOOKS):
        kept.append(mmap.mmap(-1, 2**20))
        kept[-1].write(b"x" * 2**20)
        told = watch.look()
    summary = watch.summary()
    assert summary["memory_leak"] is True
    assert 0.5 < summary["memory_growth_per_step"] < 2
    assert told["memory_trend"] == "it grows steadily and does not level off"
    watch.clear()
    assert watch.summary() == {"memory_leak": False, "memory_growth_per_step": 0.0}


def test_what_is_used_and_let_go_is_no_leak():
    watch = MemoryWatch()
    for _ in range(LOOKS):
        used = mmap.mmap(-1, 2**20)
        used.write(b"x" * 2**20)
        told = watch.look()
        used.close()
    assert watch.summary()["memory_leak"] is False
    assert 0.5 * process_memory() < told["memory"] < 2 * process_memory()
    assert told["gpu_memory"] is None or told["gpu_memory"] >= 0


def test_nothing_is_said_before_there_is_something_to_say():
    watch = MemoryWatch()
    assert watch.look()["memory_trend"] == ""
    assert watch.summary()["memory_leak"] is False
