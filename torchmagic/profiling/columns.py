"""This file is events in columns, of which each event has a row: a million take little room, and are read at once."""

from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from torchmagic.profiling.collected import Event

Column = np.ndarray[tuple[int], np.dtype[np.int64]]
Claims = np.ndarray[tuple[int], np.dtype[np.bool_]]


class Numbers(dict[str, int]):
    """The numbers of names, in the order in which they were first asked for."""

    def __missing__(self, name: str) -> int:
        """Give a name the next number."""
        number = self[name] = len(self)
        return number


@dataclass(slots=True, kw_only=True)
class Columns:
    """The events of the host in columns, and those of the accelerator as they came.

    Args:
        starts: As those of ``Event``, and so are the next.
        ends: Likewise.
        names: Numbers of the names.
        threads: As those of ``Event``.
        sequences: Likewise.
        forward_threads: Likewise.
        words: The names, by their numbers.
        sizes: Of allocations and releases, bytes, whether on an accelerator, and the address, by row.
        inputs: Events that say their inputs, by row.
        correlations: What connects operators with kernels, by row; without those that nothing is connected with.
        kernels: Kernels and copies on the accelerator.
    """

    starts: Column
    ends: Column
    names: Column
    threads: Column
    sequences: Column
    forward_threads: Column
    words: list[str]
    sizes: dict[int, tuple[int, bool, int]]
    inputs: dict[int, Event]
    correlations: dict[int, int]
    kernels: list[Event]

    def __iter__(self) -> Iterator[Event]:
        """Yield the events one by one."""
        columns = (self.starts, self.ends, self.names, self.threads, self.sequences, self.forward_threads)
        for row, numbers in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
            start, end, name, thread, sequence, forward = numbers
            size, device, address = self.sizes.get(row, (None, False, 0))
            correlation = address or self.correlations.get(row, 0)
            plain = Event(start, end, self.words[name], thread, sequence, forward, size)
            yield self.inputs.get(row) or plain._replace(device=device, correlation=correlation)
        yield from self.kernels


@dataclass(frozen=True, slots=True)
class Unread:
    """Events that are read only when they are asked for.

    Args:
        columns: Reads them.
    """

    columns: Callable[[], Columns]

    def __iter__(self) -> Iterator[Event]:
        """Yield the events one by one."""
        return iter(self.columns())


def told(words: Iterable[str], claim: Callable[[str], bool], names: Column) -> Claims:
    """Return of each row whether its name is one of which something is true.

    Args:
        words: The names, by their numbers.
        claim: Tells it of a name.
        names: The number of each row's name.
    """
    return np.fromiter(map(claim, words), np.bool_)[names]


def in_columns(events: Iterable[Event]) -> Columns:
    """Return events in columns."""
    if isinstance(events, Unread):
        return events.columns()
    numbers, kernels = Numbers(), list[Event]()
    columns = [array("q") for _ in range(6)]
    add_start, add_end, add_name, add_thread, add_sequence, add_forward = (column.append for column in columns)
    sizes, inputs, correlations = dict[int, tuple[int, bool, int]](), dict[int, Event](), dict[int, int]()
    row = 0
    for event in events:
        start, end, name, thread, sequence, forward, size, shapes, _, _, device, correlation = event
        if size is not None:
            sizes[row] = (size, device, correlation)
        elif device:
            kernels.append(event)
            continue
        elif correlation:
            correlations[row] = correlation
        add_start(start)
        add_end(end)
        add_name(numbers[name])
        add_thread(thread)
        add_sequence(sequence)
        add_forward(forward)
        if shapes is not None:
            inputs[row] = event
        row += 1
    starts, ends, names, threads, sequences, forwards = (np.frombuffer(column, np.int64) for column in columns)
    return Columns(
        starts=starts,
        ends=ends,
        names=names,
        threads=threads,
        sequences=sequences,
        forward_threads=forwards,
        words=list(numbers),
        sizes=sizes,
        inputs=inputs,
        correlations=correlations,
        kernels=kernels,
    )
