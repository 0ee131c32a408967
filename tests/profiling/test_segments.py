"""This file tests the sums over an accelerator's reserved memory, on a snapshot as torch gives it."""

import torch

from torchmagic.profiling.segments import memory_segments, summed_up
from torchmagic.records.accelerator import MemorySegments

MIB = 1 << 20


def segment(*blocks):
    sizes = [size for size, _ in blocks]
    return {
        "device": 0, "address": 1, "total_size": sum(sizes), "segment_type": "large",
        "blocks": [{"size": size, "state": state} for size, state in blocks],
    }  # fmt: skip


def test_what_is_in_use_what_waits_and_the_largest_free_part_are_told():
    found = summed_up([
        segment((12 * MIB, "active_allocated"), (8 * MIB, "inactive")),
        segment((1 * MIB, "active_awaiting_free"), (1 * MIB, "active_pending_free"), (18 * MIB, "active_allocated")),
        segment((2 * MIB, "inactive")),
    ])  # fmt: skip
    assert found == MemorySegments(
        segments=3, reserved=42 * MIB, allocated=30 * MIB, freed=2 * MIB, largest_free=8 * MIB
    )


def test_nothing_reserved_is_nothing():
    assert summed_up([]) == MemorySegments(segments=0, reserved=0, allocated=0, freed=0, largest_free=0)


def test_without_an_accelerator_nobody_is_asked():
    assert memory_segments("cpu") is None
    assert torch.cuda.is_initialized() or memory_segments("cuda") is None
