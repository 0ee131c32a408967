"""This file is the ranges: what makes the profiler note down when a module, a line or a phase began and ended.

A range is a name that the profiler writes beside its operators. ``Ranges`` opens and shuts all of them at once: those
that are under way as the profiler starts, such as that of the line that runs the training, are begun anew, and those
that are under way as it stops are ended.
"""

from collections.abc import Callable
from contextlib import suppress
from threading import get_ident

import torch

# What runs more often than this in one window is timed only so often: beyond it, the ranges would be what is measured.
MOST = 10_000
# Entries of one range after which somebody looks whether all of this has become too much.
BETWEEN_LOOKS = 256
NOBODY = 0

Note = torch._C._profiler._RecordFunctionFast


class Range:
    """A named stretch of time, as a context manager; made by ``Ranges.make``.

    It may be entered again while it is entered, and left in any way; other threads than the one that opened the
    ranges, and everything while they are shut, pass through.

    Attributes:
        name: What the profiler calls it.
        count: Times it was entered since the profiler started, timed or not.
    """

    __slots__ = ("_limit", "_ranges", "_silent", "_spare", "count", "name")

    def __init__(self, name: str, ranges: "Ranges") -> None:
        self.name = name
        self.count = self._silent = 0
        self._limit = min(BETWEEN_LOOKS, ranges.most)
        self._ranges = ranges
        self._spare: Note | None = None

    def __enter__(self) -> None:
        """Begin it, where the profiler is to know."""
        ranges = self._ranges
        if ranges.thread != get_ident():
            return
        self.count += 1
        if self.count > self._limit and self._is_too_much():
            if ranges.thread != NOBODY:
                ranges.standing.append((self, None))
            return
        note = self._spare or Note(self.name)
        self._spare = None
        ranges.standing.append((self, note))
        if ranges.recording:
            note.__enter__()

    def __exit__(self, *_: object) -> None:
        """End it, where it was begun."""
        ranges = self._ranges
        if ranges.thread != get_ident() or not ranges.standing:
            return
        whose, note = ranges.standing.pop()
        if whose is not self:
            note = ranges.take_out(self, (whose, note))
        if note is not None:
            if ranges.recording:
                note.__exit__(None, None, None)
            self._spare = note

    def _is_too_much(self) -> bool:
        """Look after everything now and then; whether this range has been timed often enough."""
        most = self._ranges.most
        if self.count > most:
            return True
        self._limit = min(self._limit + BETWEEN_LOOKS, most)
        self._ranges.look()
        return self._ranges.thread == NOBODY

    def count_anew(self) -> None:
        """Forget how often it was entered."""
        self.count = 0
        self._limit = min(BETWEEN_LOOKS, self._ranges.most)


Standing = tuple[Range, "Note | None"]


class Ranges:
    """All ranges of one profile.

    They are first shut; ``open`` follows which are under way, ``record`` has the profiler note them down, ``pause``
    ends that before the profiler stops, and ``shut`` is for good. All four are safe to call at any moment.

    Args:
        most: Times that each range is timed in one window; then it goes silent, and is only counted.
        look: Called now and then from within ranges, so that what grows too large can be ended.

    Attributes:
        thread: The thread whose ranges count; 0 while shut.
        recording: Whether the profiler notes them down.
        standing: The ranges under way, the outermost first; None beside one that is silent.
    """

    def __init__(self, *, most: int = MOST, look: Callable[[], None] = lambda: None) -> None:
        self.most, self.look = most, look
        self.thread = NOBODY
        self.recording = False
        self.standing: list[Standing] = []
        self._made: list[Range] = []

    def make(self, name: str) -> Range:
        """Return a new range of a name."""
        made = Range(name, self)
        self._made.append(made)
        return made

    def open(self) -> None:
        """Follow from here on which ranges of the present thread are under way."""
        self.thread = get_ident()

    def record(self) -> None:
        """Have the profiler, which has just started, note down the ranges; those under way begin now."""
        if self.recording or self.thread == NOBODY:
            return
        for _, note in self.standing:
            if note is not None:
                note.__enter__()
        self.recording = True

    def count_anew(self) -> None:
        """Forget how often each range was entered."""
        for each in self._made:
            each.count_anew()

    def pause(self) -> None:
        """End the ranges under way, before the profiler stops."""
        if self.recording:
            self.recording = False
            for _, note in reversed(self.standing):
                if note is not None:
                    with suppress(RuntimeError):  # an interrupt came before it began
                        note.__exit__(None, None, None)

    def shut(self) -> None:
        """End everything: from here on each range costs next to nothing."""
        self.pause()
        self.thread = NOBODY
        self.standing.clear()

    def mark(self, name: str) -> None:
        """Have the profiler note down a moment."""
        if self.recording:
            with Note(name):
                pass

    def too_many(self, prefix: str) -> dict[int, int]:
        """Return how often the ranges were entered that went silent, by the number after a prefix of their names."""
        return {
            int(each.name.removeprefix(prefix)): each.count
            for each in self._made
            if each.count > self.most and each.name.startswith(prefix)
        }

    def take_out(self, wanted: Range, popped: Standing) -> "Note | None":
        """Take out the innermost entry of a range that does not end in turn, as one around a generator's ``yield``."""
        self.standing.append(popped)
        for position in range(len(self.standing) - 1, -1, -1):
            if self.standing[position][0] is wanted:
                return self.standing.pop(position)[1]
        return None
