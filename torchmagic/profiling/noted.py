"""This file is what is noted down on the way through the events, because its order counts."""

from typing import NamedTuple

from torchmagic.profiling.contexts import Cell, Context


class Interval(NamedTuple):
    """A time in the thread that trains that belongs to another phase than what is around it; nanoseconds."""

    start: int
    end: int
    phase: str


class OpenModule(NamedTuple):
    """A call of a module: when it ends, which module it is, and the call around it."""

    end: int
    number: int
    outer: "OpenModule | None"

    @staticmethod
    def at(call: "OpenModule | None", time: int) -> "OpenModule | None":
        """Return the innermost call that still runs at a time."""
        while call is not None and call.end <= time:
            call = call.outer
        return call


class Change(NamedTuple):
    """An allocation, or, below zero, a release.

    Args:
        time: When.
        size: Bytes.
        context: Where.
        owner: By which operator.
        modules: Within which calls of modules.
        device: Whether on an accelerator.
        address: 0 where it is not known.
    """

    time: int
    size: int
    context: Context
    owner: Cell
    modules: OpenModule | None
    device: bool = False
    address: int = 0


class Batch(NamedTuple):
    """A batch that came: from which loader, after how many nanoseconds of waiting, for which line."""

    loader: int
    wait: int
    line: int
