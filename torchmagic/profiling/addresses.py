"""This file finds the addresses of allocations and releases, which torch tells only in the tree of its events."""

from collections import defaultdict, deque
from typing import Any

from torch._C._profiler import _EventType


class Addresses:
    """Addresses of what the profiler noted down, by the moment and the bytes.

    Args:
        results: What the profiler noted down: its ``kineto_results``; None for nothing.
    """

    def __init__(self, results: Any) -> None:
        self._known: defaultdict[tuple[int, int], deque[int]] = defaultdict(deque)
        waiting = list(results.experimental_event_tree()) if results is not None else []
        found = []
        while waiting:
            event = waiting.pop()
            if event.tag == _EventType.Allocation:
                fields = event.extra_fields
                found.append((event.start_time_ns, fields.alloc_size, fields.ptr))
            else:
                waiting.extend(event.children)
        for start, size, address in sorted(found):
            self._known[start, size].append(address)

    def next_at(self, start: int, size: int) -> int:
        """Return the address of the next allocation, or, of a size below zero, release; 0 where it is not known."""
        same = self._known.get((start, size))
        return same.popleft() if same else 0
