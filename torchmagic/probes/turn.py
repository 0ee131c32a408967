"""This file is whose turn it is: a run watches one thread at a time, as two that train at once would be mixed."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from threading import get_ident
from weakref import WeakSet

from torchmagic.probes.stacks import stack_of

# Where a thread stands that waits until another one is done, or until there is something to do: files of the standard
# library, and functions.
_IDLE = {
    ("threading", "start"),
    ("threading", "join"),
    ("concurrent/futures/_base", "result"),
    ("concurrent/futures/_base", "wait"),
    ("concurrent/futures/_base", "as_completed"),
    ("concurrent/futures/thread", "_worker"),
    ("asyncio/base_events", "_run_once"),
}
_WAITING = ("threading", "selectors", "concurrent/", "asyncio/")
_LIBRARY = Path(threading.__file__).parent
# A thread that is refused asks for the other's stack, which takes some 100 us, no more often than this (ns).
BETWEEN_LOOKS = 5_000_000
LONGEST_WAIT = 1_000_000_000

_turns: WeakSet["Turn"] = WeakSet()


class Turn:
    """The thread whose doings a run watches.

    It is the one that opened the run, until another one learns while this one has not begun to, or comes while this one
    is over or waits for others to be done. A thread that opened a run of its own is left to that.

    Autograd writes gradients without Python's lock, so what one thread trains must not be read from another one. Where
    that could be, ``partings`` are called, each of which forgets every model and optimizer; those that take part are
    met again.

    Attributes:
        ident: The thread's identity; 0 while it has to part first.
        has_learned: Whether it has begun to learn; from then on nothing is to be said while it goes on.
        num_refused: Backward passes and steps of other threads that were not watched.
        partings: What to call.
    """

    def __init__(self) -> None:
        self.ident = self._holder = self._opener = get_ident()
        self.num_refused = 0
        self.partings: list[Callable[[], object]] = []
        self.has_learned = False
        self._looked = 0
        self._refused: set[int] = set()
        self._lock = threading.Lock()

    def open(self) -> None:
        """Begin, with the thread that calls."""
        self.ident = self._holder = self._opener = get_ident()
        _turns.add(self)

    def close(self) -> None:
        """End."""
        _turns.discard(self)

    def is_mine(self) -> bool:
        """Whether the thread that calls is the one that is watched, as which it may take over here."""
        mine = get_ident()
        return mine == self.ident or self._take(mine, learning=False)

    def learns(self) -> bool:
        """Say that the thread that calls runs a model in training mode; return whether it is the one watched."""
        mine = get_ident()
        if mine == self.ident:
            self.has_learned = True
            return True
        return self._take(mine, learning=True)

    def trains(self, is_busy: Callable[[], bool]) -> bool:
        """Say that the thread that calls goes backward or steps; return whether it is the one watched.

        Args:
            is_busy: Whether something is being looked at; a thread that was refused waits for the end of that, once.
        """
        mine = get_ident()
        if mine == self.ident:
            self.has_learned = True
            return True
        if self._take(mine, learning=True):
            return True
        if self._has_own(mine):
            return False
        self.num_refused += 1
        if mine not in self._refused:
            self._refused.add(mine)
            self.ident = 0
            until = time.perf_counter_ns() + LONGEST_WAIT
            while is_busy() and time.perf_counter_ns() < until:
                time.sleep(0.0005)
        return False

    def _take(self, mine: int, *, learning: bool) -> bool:
        with self._lock:
            if mine != self._holder:
                if not self._may_take(mine, learning=learning):
                    return False
                self._holder, self.has_learned = mine, learning
            for part in self.partings:
                part()
            self.ident = mine
            return True

    def _may_take(self, mine: int, *, learning: bool) -> bool:
        if mine != self._opener and self._has_own(mine):
            return False
        if learning and not self.has_learned:
            return True
        present = time.perf_counter_ns()
        if present - self._looked < BETWEEN_LOOKS:
            return False
        self._looked = present
        return _has_time(self._holder)

    def _has_own(self, ident: int) -> bool:
        """Whether a thread opened another run than this one."""
        return any(each._opener == ident for each in tuple(_turns) if each is not self)


def _has_time(ident: int) -> bool:
    """Whether a thread is over, or waits for others."""
    stack = stack_of(ident)
    for each in stack:
        path = Path(each.file)
        module = path.relative_to(_LIBRARY).with_suffix("").as_posix() if path.is_relative_to(_LIBRARY) else ""
        if not module.startswith(_WAITING):
            return False
        if (module, each.function) in _IDLE:
            return True
    return not stack
