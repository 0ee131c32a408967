"""This file is what torch's profiler noted down, read as events."""

from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any

import numpy as np
from torch._C._autograd import DeviceType, _KinetoEvent

from torchmagic.profiling.addresses import Addresses
from torchmagic.profiling.collected import LAUNCH, MEMORY, Event
from torchmagic.profiling.columns import Column, Columns, Numbers, in_columns, told

# Moments at which a stretch begins and ends, each followed by its number; and what begins all names of ours.
BEGIN, END, OURS = "tm:b:", "tm:e:", "tm:"
EDGES = (BEGIN, END)


class Recording:
    """What torch's profiler noted down.

    Torch makes an object of each event. They take more room than all that is read of them, so let go of this soon.

    Args:
        results: What the profiler kept; None for nothing.
        on_device: Whether there is an accelerator.
        shapes: Whether inputs were noted down.
        memory: Whether allocations were.
        stacks: Whether Python's functions were; they are left out.
    """

    def __init__(self, results: Any, *, on_device: bool, shapes: bool, memory: bool, stacks: bool) -> None:
        self._on_device, self._shapes, self._stacks = on_device, shapes, stacks
        self._results = results if memory else None
        self._events: list[Any] = results.events() if results is not None else []
        numbers = Numbers()
        numbered = map(numbers.__getitem__, map(_KinetoEvent.name, self._events))
        self._names = np.fromiter(numbered, np.int64, len(self._events))
        self._words = list(numbers)

    def marks(self) -> list[Event]:
        """Return our own ranges, the beginning and the end among them, in the order of their beginnings."""
        ours = told(self._words, lambda name: name.startswith(OURS), self._names)
        marks = compress(self._events, ours)
        return [Event(each.start_ns(), each.end_ns(), each.name(), each.start_thread_id()) for each in marks]

    def columns(self, begin: int, end: int) -> Columns:
        """Return what was noted down between two moments, and let go of the rest.

        What reaches beyond them is cut there.

        Args:
            begin: Nanoseconds of the profiler's clock.
            end: Likewise.
        """
        starts, ends = _column(_KinetoEvent.start_ns, self._events), _column(_KinetoEvent.end_ns, self._events)
        within = (ends >= begin) & (starts <= end)
        within &= told(self._words, lambda name: not name.startswith(EDGES), self._names)
        if self._stacks:
            within &= _column(_KinetoEvent.is_python_function, self._events) == 0
        self._events, self._names = list(compress(self._events, within)), self._names[within]
        starts, ends = np.maximum(starts[within], begin), np.minimum(ends[within], end)
        return self._one_by_one(starts, ends) if self._on_device or self._shapes else self._at_once(starts, ends)

    def _at_once(self, starts: Column, ends: Column) -> Columns:
        """Read events of the host whose inputs nobody asked for: one kind of number after the other."""
        sequences = _column(_KinetoEvent.sequence_nr, self._events)
        forward_threads, has_node = np.zeros_like(sequences), sequences >= 0
        forward_threads[has_node] = _column(_KinetoEvent.fwd_thread_id, list(compress(self._events, has_node)))
        sizes, addresses = {}, Addresses(self._results)
        for row in np.flatnonzero(told(self._words, MEMORY.__eq__, self._names)).tolist():
            size = self._events[row].nbytes()
            sizes[row] = size, False, addresses.next_at(self._events[row].start_ns(), size)
        return Columns(
            starts=starts,
            ends=ends,
            names=self._names,
            threads=_column(_KinetoEvent.start_thread_id, self._events),
            sequences=sequences,
            forward_threads=forward_threads,
            words=self._words,
            sizes=sizes,
            inputs={},
            correlations={},
            kernels=[],
        )

    def _one_by_one(self, starts: Column, ends: Column) -> Columns:
        """Read events one by one, of which each may tell something else."""
        addresses = Addresses(self._results)
        rows = zip(self._events, starts.tolist(), ends.tolist(), self._names.tolist(), strict=True)
        made = (self._event(each, start, stop, self._words[name], addresses) for each, start, stop, name in rows)
        return in_columns(event for event in made if event is not None)

    def _event(self, each: Any, start: int, stop: int, name: str, addresses: Addresses) -> Event | None:
        device = self._on_device and each.device_type() != DeviceType.CPU
        if device and each.is_user_annotation():  # a range, repeated on the device's own row
            return None
        if name == MEMORY:
            size = each.nbytes()
            where = addresses.next_at(each.start_ns(), size)
            return Event(start, stop, name, each.start_thread_id(), bytes=size, device=device, correlation=where)
        shapes = self._shapes and not device
        return Event(
            start=start,
            end=stop,
            name=name,
            thread=each.device_resource_id() if device else each.start_thread_id(),
            sequence=each.sequence_nr(),
            forward_thread=each.fwd_thread_id(),
            shapes=each.shapes() if shapes else None,
            dtypes=each.dtypes() if shapes else None,
            concrete=each.concrete_inputs() if shapes else None,
            device=device,
            correlation=correlation_of(each, name, device=device) if self._on_device else 0,
        )


def correlation_of(each: Any, name: str, *, device: bool) -> int:
    """Return the number of an operator, or of the one that launched this.

    What no operator launched is below zero: a kernel and its launch have a number in common, and operators may have the
    same numbers.
    """
    linked: int = each.linked_correlation_id()
    own: int = each.correlation_id()
    return linked or (-own if device or LAUNCH.fullmatch(name) else own)


def _column(tell: Callable[[Any], int], events: Sequence[Any]) -> Column:
    """Return one number of each event; there are a million, so no code of Python's runs between two of them."""
    return np.fromiter(map(tell, events), np.int64, len(events))
