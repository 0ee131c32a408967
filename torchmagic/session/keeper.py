"""This file is the keeper: it has the runs of this process written, and stays calm when the store cannot be used."""

import os
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from weakref import WeakSet

from torchmagic.session.database import StoreError
from torchmagic.session.run import Run
from torchmagic.session.store import Mark, Store
from torchmagic.session.writer import Writer

_keepers: WeakSet["Keeper"] = WeakSet()


class Keeper:
    """Writes runs to one store, from the writer's thread.

    What is wrong with the store is said once, and again after it was well. A disk that is full or a file that is
    locked is tried again with each write, also for runs that have ended; any other store that cannot be used is
    given up. A run that cannot be told in JSON is given up alone.

    Args:
        warn: Takes the line that says what is wrong.
        numbers: Tells the numbers that runs of this process have.
        inherited: The keeper of the process that forked this one.
    """

    def __init__(
        self,
        *,
        warn: Callable[[str], None],
        numbers: Callable[[], set[int]],
        inherited: "Keeper | None" = None,
    ) -> None:
        self.process = os.getpid()
        self.writer = Writer(self._save_all, self._settle)
        self._warn, self._numbers = warn, numbers
        self._lock = threading.RLock()
        self._store: Store | None = None
        self._broken: Path | None = None
        self._path = Path()
        self._marks: dict[str, Mark] = {}
        self._late: dict[str, Run] = {}
        self._well = True
        # The parent writes these; its connection is kept from being closed here, where it was never opened.
        self._foreign = frozenset() if inherited is None else inherited.all_open
        self._inherited = inherited
        _keepers.add(self)

    @property
    def all_open(self) -> frozenset[str]:
        """Ids of the runs that are open here, or were where this process was forked off."""
        return self._foreign | frozenset(self.writer.open)

    def store(self, path: Path) -> Store | None:
        """Return the store, opened; None when it cannot be used."""
        with self._lock:
            if self._store is not None and (self._store.path != path or self._store.is_gone):
                self._store.close()
                self._store = None
            if self._store is None and self._broken != path:
                try:
                    self._store = Store(path, marks=self._marks)
                except StoreError as error:
                    self._say(error)
                    self._broken = None if error.passing else path
            return self._store

    def write(self, run: Run, path: Path, *, final: bool, urgent: bool) -> None:
        """Follow a run, or write it for the last time."""
        if run.id in self._foreign and run.id not in self.writer.open:
            return
        if self._broken == path and run.id not in self.writer.open:
            return
        self._path = path
        if final:
            self.writer.finish(run)
        else:
            self.writer.follow(run, urgent=urgent)

    def close(self) -> None:
        """Write what is open and close the store; the next one gets another chance."""
        if self.process != os.getpid():
            return
        self.writer.stop()
        with self._lock:
            if self._store is not None:
                self._store.close()
            self._store = self._broken = None
            self._well = True

    def hold_still(self) -> None:
        """Write nothing until ``go_on``: a process that is forked while SQLite is at work could never use it."""
        self._lock.acquire()

    def go_on(self) -> None:
        """Write again."""
        self._lock.release()

    def _save_all(self, runs: Sequence[Run]) -> None:
        with self._lock:
            for run in tuple({**self._late, **{run.id: run for run in runs}}.values()):
                try:
                    self._save(run)
                except Exception as error:  # noqa: BLE001 - the wall: what fails here is never the user's
                    self._give_up(run, f"a run is kept in memory only: {type(error).__name__}: {error}")

    def _save(self, run: Run) -> None:
        store = None if run.id in self._foreign else self.store(self._path)
        if store is None:
            if self._broken is None and run.id not in self._foreign:
                self._late[run.id] = run
            return
        try:
            store.write(run, least=1 + max(self._numbers(), default=0))
        except StoreError as error:
            self._fail(run, error)
        else:
            self._well = True
            self._late.pop(run.id, None)

    def _fail(self, run: Run, error: StoreError) -> None:
        if error.passing:
            self._say(error)
            self._late[run.id] = run
        elif isinstance(error.__cause__, sqlite3.Error | OSError):
            self._say(error)
            self._broken = self._path
            if self._store is not None:
                self._store.close()
            self._store = None
        else:
            self._give_up(run, str(error))

    def _give_up(self, run: Run, line: str) -> None:
        self._warn(line)
        self._late.pop(run.id, None)
        self._foreign |= {run.id}

    def _say(self, error: StoreError) -> None:
        if self._well:
            self._warn(str(error))
        self._well = False

    def _settle(self) -> None:
        with self._lock:
            if self._store is not None:
                try:
                    self._store.checkpoint()
                except StoreError as error:
                    self._say(error)


_held: list[Keeper] = []


def _before_fork() -> None:
    for keeper in tuple(_keepers):
        keeper.hold_still()
        _held.append(keeper)


def _after_fork() -> None:
    while _held:
        _held.pop().go_on()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
