"""This file is the session: every run watched in this process, and the store behind them."""

import os
from collections.abc import Iterable
from pathlib import Path

from torchmagic.session.database import StoreError, store_in
from torchmagic.session.entries import entries, newest_lost
from torchmagic.session.history import Entry, entry_of, merged
from torchmagic.session.keeper import Keeper
from torchmagic.session.launches import joined
from torchmagic.session.notes import annotate_stored, clear_stored
from torchmagic.session.picking import picked
from torchmagic.session.run import Run
from torchmagic.session.store import Store
from torchmagic.session.stored import read_run


class Session:
    """The ordered list of runs of this process, and the history of the project that its store holds.

    Args:
        folder: The project's folder, in which the store lives; None takes the working directory at the first run.
        file: The store itself, where it is not the project's but, for instance, one that a rank alone writes.
    """

    def __init__(self, folder: Path | None = None, *, file: Path | None = None) -> None:
        self.runs: list[Run] = []
        self.folder = folder
        self.file = file
        self.warnings: list[str] = []
        self._keeper: Keeper | None = None
        self._first_folder: Path | None = None

    def __repr__(self) -> str:
        return f"<Session: {len(self.runs)} runs>"

    @property
    def last(self) -> Run | None:
        """The newest run, or None."""
        return self.runs[-1] if self.runs else None

    @property
    def path(self) -> Path:
        """Where the store lies, or would."""
        return self.file or store_in(self.folder or self._first_folder or _working_folder() or Path())

    @property
    def store(self) -> Store | None:
        """The project's store; None when it cannot be used (``warnings`` then says why, once)."""
        return self._kept().store(self.path)

    def add(self, run: Run) -> None:
        """Append a run."""
        self.runs.append(run)

    def write(self, run: Run, *, final: bool = False, urgent: bool = False) -> None:
        """Have the run written from now on each second, by a thread of its own; never raises.

        Only a final write waits until it is on disk, and no longer than 2.5 seconds.

        Args:
            run: The run.
            final: Whether it has ended.
            urgent: Whether what is new is to be written at once.
        """
        keeper = self._keeper
        if keeper is not None and not (final or urgent) and keeper.writer.has(run):
            return
        if self.folder is None and self._first_folder is None:
            self._first_folder = _working_folder()
        self._kept().write(run, self.path, final=final, urgent=urgent)

    def history(self) -> list[Entry]:
        """Return one line a run, oldest first: those of earlier kernels that the store holds, and of this process."""
        stored = self._stored()
        saved = {entry.id: entry.number for entry in stored}
        self._number(saved)
        here = [entry_of(run, saved=run.id in saved) for run in tuple(self.runs)]
        return merged(stored, here)

    def get(self, which: int | str) -> Run:
        """Return a run, from this process or from the store.

        A run whose process died while it ran has the status ``lost``; its findings are those that were written.

        Args:
            which: Number as the history shows it, negative ones from the end; id; name (the newest of that name);
                or ``"last"``.

        Raises:
            KeyError: If there is no such run; its argument is one line that says which there are.
            StoreError: If the store holds it and cannot be read.
        """
        return self._run(picked(self.history(), which, here=tuple(run.id for run in self.runs)))

    def annotate(self, which: int | str, *, note: str | None = None, tags: Iterable[str] | None = None) -> None:
        """Give a run a note or tags in place of those that it has; earlier kernels' runs as well.

        Args:
            which: As for ``get``.
            note: The note; None leaves it as it is.
            tags: The tags; None leaves them as they are.

        Raises:
            KeyError: If there is no such run.
            StoreError: If it is in the store only, which cannot be written.
        """
        entry = picked(self.history(), which, here=tuple(run.id for run in self.runs))
        marks = None if tags is None else tuple(dict.fromkeys(tags))
        for run in tuple(self.runs):
            if run.id == entry.id:
                run.note = run.note if note is None else note
                run.tags = run.tags if marks is None else marks
        if entry.saved:
            try:
                annotate_stored(self.path, entry.id, note=note, tags=marks)
            except StoreError as error:
                if not entry.here:
                    raise
                self._warn(str(error))

    def clear(self, *, stored: bool = False) -> None:
        """Forget the runs of this process.

        Args:
            stored: Whether the store forgets as well: all runs but those that go on, here or in another kernel.

        Raises:
            StoreError: If the store is to forget and cannot be written.
        """
        self.runs.clear()
        if stored and self.path.is_file():
            clear_stored(self.path)

    def lost(self) -> Entry | None:
        """Return the newest run that a dead process left behind and nobody has been told of, or None."""
        return newest_lost(self.path.parent.parent)

    def close(self) -> None:
        """Write what is open and close the store; a later run opens it again."""
        if self._keeper is not None:
            self._keeper.close()
        self._first_folder = None

    def _kept(self) -> Keeper:
        """Return what writes for this process; a forked child gets its own, and leaves the parent's runs alone."""
        if self._keeper is None or self._keeper.process != os.getpid():
            inherited = self._keeper
            self._keeper = Keeper(warn=self._warn, numbers=self._numbers, inherited=inherited)
        return self._keeper

    def _stored(self) -> list[Entry]:
        if not self.path.is_file():
            return []
        try:
            stored, damaged = entries(self.path)
        except StoreError as error:
            self._warn(str(error))
            return []
        for line in damaged:
            self._warn(line)
        return stored

    def _run(self, entry: Entry) -> Run:
        here = next((run for run in self.runs if run.id == entry.id), None)
        return joined(read_run(self.path, entry.id), self.path.parent.parent) if here is None else here

    def _numbers(self) -> set[int]:
        """The numbers that runs of this process have."""
        return {run.number for run in tuple(self.runs)}

    def _number(self, saved: dict[str, int]) -> None:
        """Give runs that are in memory only numbers that no other run of the history has."""
        taken = set(saved.values())
        for run in tuple(self.runs):
            if run.id in saved:
                run.number = saved[run.id]
            elif run.number in taken or not run.number:
                run.number = 1 + max(taken | self._numbers())
            taken.add(run.number)

    def _warn(self, line: str) -> None:
        if line not in self.warnings:
            self.warnings.append(line)


def _working_folder() -> Path | None:
    """Return the working directory; None where somebody has removed it."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return None


session = Session()
