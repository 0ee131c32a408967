"""This file is the events of a window in the order in which they began, cut to it, in columns that take little room."""

from array import array
from collections.abc import Callable, Iterator

import numpy as np

from torchmagic.profiling.collected import LAUNCH, STEP, Collected, Event

NODE = "autograd::engine::evaluate_function: "
# How many rows are made into Python's numbers at once.
_ROWS = 1 << 15


class Ordered:
    """The events of the host in order, and those of the accelerator apart.

    Args:
        collected: What was collected.

    Attributes:
        names: The names, by their numbers.
        nodes: Of nodes of the backward, the thread and the number of their forward, by the event's number.
        sizes: Of allocations and releases, bytes, whether on an accelerator, and the address, by the event's number.
        inputs: Events that say their inputs, by the event's number.
        correlations: What connects operators with kernels, by the event's number; empty without an accelerator.
        kernels: Kernels and copies on the accelerator, as they came.
        count: How many events there were.
    """

    def __init__(self, collected: Collected) -> None:
        self._begin, self._end, self._main = collected.begin, collected.end, collected.thread
        self._columns = [array("q") for _ in range(5)]
        self._numbers: dict[str, int] = {}
        self.nodes: dict[int, tuple[int, int]] = {}
        self.sizes: dict[int, tuple[int, bool, int]] = {}
        self.inputs: dict[int, Event] = {}
        self.correlations: dict[int, int] = {}
        self.kernels: list[Event] = []
        self.count = 0
        self._read(collected)
        self.names = list(self._numbers)
        self._table = self._sorted()

    def __iter__(self) -> Iterator[tuple[int, int, int, int, int, int]]:
        """Yield the events, those around others first.

        Each is its beginning and end, the number of its name, its thread, the number of the node that it makes, -1
        for none, and its own number.
        """
        for first in range(0, self._table.shape[1], _ROWS):
            yield from zip(*self._table[:, first : first + _ROWS].tolist(), strict=True)

    def details(self) -> set[int]:
        """Return the numbers of the events of which more is known than their columns hold."""
        return self.inputs.keys() | self.correlations.keys()

    def makers(self) -> dict[int, int]:
        """Return when the operator began that made a node of the backward, by the node's number, in the main thread.

        An operator's number is that of the next node to be made, so several may bear it; the last of them made it.
        Nodes that no backward reached are left out.
        """
        reached = {sequence for thread, sequence in self.nodes.values() if thread == self._main}
        bears = (self._table[4] >= 0) & (self._table[3] == self._main)
        starts, sequences = self._table[0][bears], self._table[4][bears]
        wanted = np.isin(sequences, np.fromiter(reached, np.int64, len(reached)))
        return dict(zip(sequences[wanted].tolist(), starts[wanted].tolist(), strict=True))

    def _read(self, collected: Collected) -> None:
        numbers, inputs, main = self._numbers, self.inputs, self._main
        add_start, add_end, add_name, add_thread, add_sequence = (column.append for column in self._columns)
        index, accelerated = 0, collected.device != "cpu"
        for event in collected.events:
            self.count += 1
            start, end, name, thread, sequence, forward, size, shapes, _, _, device, correlation = event
            if size is not None:
                self.sizes[index] = (size, device, correlation)
            elif device:
                self.kernels.append(event)
                continue
            number = numbers.get(name)
            if number is None:
                if name.startswith(STEP):
                    continue
                number = numbers[name] = len(numbers)
            add_start(start)
            add_end(end)
            add_name(number)
            add_thread(thread or main)
            if forward and name.startswith(NODE):
                self.nodes[index] = (forward, sequence)
            add_sequence(-1 if forward else sequence)
            if shapes is not None:
                inputs[index] = event
            if accelerated and correlation and size is None:
                self.correlations[index] = correlation
            index += 1

    def _sorted(self) -> "np.ndarray[tuple[int, int], np.dtype[np.int64]]":
        starts, ends, names, threads, sequences = (np.frombuffer(column, np.int64) for column in self._columns)
        indices = np.arange(len(starts))
        nodes = [number for name, number in self._numbers.items() if NODE + name in self._numbers]
        sequences = np.where(np.isin(names, nodes), -1, sequences)
        if self.correlations:
            threads = self._launched(names, threads)
        within = (ends >= self._begin) & (starts <= self._end)
        table = np.stack((starts, ends, names, threads, sequences, indices))[:, within]
        np.clip(table[:2], self._begin, self._end, out=table[:2])
        if not _is_ordered(table):
            table = table[:, np.lexsort((-table[1], table[0]))]
        return table

    def _launched(
        self, names: "np.ndarray[tuple[int], np.dtype[np.int64]]", threads: "np.ndarray[tuple[int], np.dtype[np.int64]]"
    ) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
        """Put the runtime's calls into the threads of their operators."""
        launches = {number for name, number in self._numbers.items() if LAUNCH.fullmatch(name)}
        is_launch: Callable[[int], bool] = lambda index: int(names[index]) in launches  # noqa: E731 - read twice
        owners = {number: int(threads[index]) for index, number in self.correlations.items() if not is_launch(index)}
        threads = threads.copy()
        for index, number in self.correlations.items():
            if is_launch(index) and number in owners:
                threads[index] = owners[number]
        return threads


def _is_ordered(table: "np.ndarray[tuple[int, int], np.dtype[np.int64]]") -> bool:
    starts, ends = table[0], table[1]
    later, same = starts[1:] > starts[:-1], starts[1:] == starts[:-1]
    return bool(np.all(later | (same & (ends[1:] <= ends[:-1]))))
