"""This file is the events of a window in the order in which they began, cut to it."""

from collections.abc import Iterator
from itertools import chain, compress

import numpy as np

from torchmagic.profiling.collected import LAUNCH, STEP, Collected
from torchmagic.profiling.columns import Column, Columns, in_columns, told

NODE = "autograd::engine::evaluate_function: "
# How many rows are made into Python's numbers at once.
_ROWS = 1 << 13


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
        columns = in_columns(collected.events)
        self.names, self.kernels = columns.words, columns.kernels
        self.sizes, self.inputs = columns.sizes, columns.inputs
        self.correlations = columns.correlations if collected.device != "cpu" else {}
        self.count = len(columns.names) + len(self.kernels)
        self.nodes = self._nodes(columns)
        self._table = self._sorted(columns)

    def __iter__(self) -> Iterator[tuple[int, int, int, int, int, int]]:
        """Go through the events, those around others first.

        Each is its beginning and end, the number of its name, its thread, the number of the node that it makes, -1
        for none, and its own number.
        """
        parts = (self._table[:, first : first + _ROWS] for first in range(0, self._table.shape[1], _ROWS))
        return chain.from_iterable(zip(*part.tolist(), strict=True) for part in parts)

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

    def _nodes(self, columns: Columns) -> dict[int, tuple[int, int]]:
        is_node = columns.forward_threads != 0
        is_node &= told(self.names, lambda name: name.startswith(NODE), columns.names)
        threads, sequences = columns.forward_threads[is_node].tolist(), columns.sequences[is_node].tolist()
        return dict(zip(np.flatnonzero(is_node).tolist(), zip(threads, sequences, strict=True), strict=True))

    def _sorted(self, columns: Columns) -> "np.ndarray[tuple[int, int], np.dtype[np.int64]]":
        names, known = columns.names, self._known(columns.names)
        within = (columns.ends >= self._begin) & (columns.starts <= self._end)
        within &= told(self.names, lambda name: not name.startswith(STEP), names)
        makes_none = (columns.forward_threads != 0) | told(self.names, lambda name: NODE + name in known, names)
        sequences = np.where(makes_none, -1, columns.sequences)
        threads = np.where(columns.threads == 0, self._main, columns.threads)
        if self.correlations:
            threads = self._launched(names, threads)
        rows = (columns.starts, columns.ends, names, threads, sequences, np.arange(len(names)))
        table = np.empty((len(rows), np.count_nonzero(within)), np.int64)
        for whole, cut in zip(rows, table, strict=True):
            np.compress(within, whole, out=cut)
        np.clip(table[:2], self._begin, self._end, out=table[:2])
        if not _is_ordered(table):
            table = table[:, np.lexsort((-table[1], table[0]))]
        return table

    def _known(self, numbers: Column) -> set[str]:
        """Return the names that some event has."""
        return set(compress(self.names, np.bincount(numbers, minlength=len(self.names))))

    def _launched(self, names: Column, threads: Column) -> Column:
        """Put the runtime's calls into the threads of their operators."""
        is_launch = told(self.names, lambda name: LAUNCH.fullmatch(name) is not None, names)
        owners = {number: int(threads[index]) for index, number in self.correlations.items() if not is_launch[index]}
        threads = threads.copy()
        for index, number in self.correlations.items():
            if is_launch[index] and number in owners:
                threads[index] = owners[number]
        return threads


def _is_ordered(table: "np.ndarray[tuple[int, int], np.dtype[np.int64]]") -> bool:
    starts, ends = table[0], table[1]
    later, same = starts[1:] > starts[:-1], starts[1:] == starts[:-1]
    return bool(np.all(later | (same & (ends[1:] <= ends[:-1]))))
