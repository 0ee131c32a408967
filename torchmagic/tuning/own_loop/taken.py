"""This file is batches that were taken once: what gave them gives them again, from the first, to every copy."""

import contextlib
import copy
from collections.abc import Iterator, Sequence
from typing import Any, Self

from torchmagic.tuning.own_loop.no_step import NoStepError

# So many are kept, and then used again from the first.
MOST_TAKEN = 64


class Replayed:
    """An iterator that gives what another gave, to each of its copies; it takes from the other only what is missing.

    Args:
        source: An iterator.
    """

    def __init__(self, source: Iterator[Any]) -> None:
        self._source, self._taken, self._number = source, list[Any](), 0

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        if len(self._taken) <= self._number < MOST_TAKEN:
            with contextlib.suppress(StopIteration):
                self._taken.append(next(self._source))
        if not self._taken:
            raise StopIteration
        item = self._taken[self._number % len(self._taken)]
        self._number += 1
        return _fresh(item)

    def __deepcopy__(self, _memo: dict[int, Any]) -> "Replayed":
        return copy.copy(self)  # what was taken is common to all, and each has a place of its own in it


class Untouched:
    """Stands in a trial for an iterator of the user's: to take items from it would take them from the user.

    Args:
        source: The iterator.
    """

    def __init__(self, source: Iterator[Any]) -> None:
        self._kind = type(source).__name__

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        raise NoStepError(
            f"the cell takes items from a {self._kind} that was made before, and a trial must not use them up; "
            "make it in the cell, or loop over what it iterates over"
        )


class Items:
    """What a loop runs over: items without end, each a copy that the loop may write into, made before it is asked for.

    Args:
        items: They come again from the first.
    """

    def __init__(self, items: Sequence[Any]) -> None:
        self._items, self._number, self._ready = items, 0, list[Any]()

    def prepare(self) -> None:
        """Copy the next item, so that copying is no part of what is timed."""
        if not self._ready:
            self._ready.append(_fresh(self._items[self._number % len(self._items)]))

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        self.prepare()
        self._number += 1
        return self._ready.pop()


def _fresh(item: Any) -> Any:
    try:
        return copy.deepcopy(item)
    except Exception:  # noqa: BLE001 - an item may refuse to be copied in any way; it is then used as it is
        return item
