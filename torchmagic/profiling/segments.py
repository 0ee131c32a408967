"""This file sums up what torch has reserved of an accelerator's memory."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from torchmagic.records.accelerator import MemorySegments


def memory_segments(device: str) -> MemorySegments | None:
    """Return what is reserved at this moment; None where there is no accelerator in use.

    Args:
        device: ``cpu`` or ``cuda``.
    """
    if device == "cpu" or not torch.cuda.is_initialized():  # type: ignore[no-untyped-call] # torch
        return None
    return summed_up(torch.cuda.memory_snapshot())  # type: ignore[no-untyped-call] # torch


def summed_up(segments: Sequence[Mapping[str, Any]]) -> MemorySegments:
    """Return the sums of a snapshot.

    Args:
        segments: As ``torch.cuda.memory_snapshot`` gives them: pieces of reserved memory, each with its blocks, of
            which the state is ``active_allocated``, ``active_awaiting_free``, ``active_pending_free`` or ``inactive``.
    """
    blocks = [block for segment in segments for block in segment["blocks"]]
    sizes = {state: sum(each["size"] for each in blocks if each["state"] == state) for state in _states(blocks)}
    return MemorySegments(
        segments=len(segments),
        reserved=sum(segment["total_size"] for segment in segments),
        allocated=sizes.get("active_allocated", 0),
        freed=sum(size for state, size in sizes.items() if state.startswith("active_") and state != "active_allocated"),
        largest_free=max((each["size"] for each in blocks if each["state"] == "inactive"), default=0),
    )


def _states(blocks: Sequence[Mapping[str, Any]]) -> set[str]:
    return {each["state"] for each in blocks}
