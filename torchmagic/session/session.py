"""This file is the session: every run watched in this process, and the store behind them."""

import time
from pathlib import Path

from torchmagic.session.run import Run
from torchmagic.session.store import FOLDER, Store, StoreError

# A killed kernel loses at most this much of a run.
SECONDS_BETWEEN_WRITES = 1.0


class Session:
    """The ordered list of runs of this process.

    Args:
        folder: The project's folder, in which the store lives; None takes the working directory at the first run.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.runs: list[Run] = []
        self.folder = folder
        self.warnings: list[str] = []
        self._store: Store | None = None
        self._broken = False
        self._written = 0.0

    def __repr__(self) -> str:
        return f"<Session: {len(self.runs)} runs>"

    @property
    def last(self) -> Run | None:
        """The newest run, or None."""
        return self.runs[-1] if self.runs else None

    @property
    def store(self) -> Store | None:
        """The project's store; None when it cannot be used (``warnings`` then says why, once)."""
        if self._store is None and not self._broken:
            folder = self.folder or Path.cwd()
            try:
                self._store = Store(folder / FOLDER / "session.sqlite")
            except StoreError as error:
                self._give_up(error)
        return self._store

    def add(self, run: Run) -> None:
        """Append a run."""
        self.runs.append(run)

    def write(self, run: Run, *, final: bool = False) -> None:
        """Write what is new in the run, at most once a second unless it is final; never raises."""
        now = time.monotonic()
        if (not final and now - self._written < SECONDS_BETWEEN_WRITES) or self.store is None:
            return
        try:
            self.store.write(run)
            if final:
                self.store.checkpoint()
        except StoreError as error:
            self._give_up(error)
        self._written = time.monotonic()

    def clear(self) -> None:
        """Forget the runs of this process; the store keeps its own."""
        self.runs.clear()

    def close(self) -> None:
        """Close the store; a later run opens it again."""
        if self._store is not None:
            self._store.close()
        self._store = None
        self._broken = False

    def _give_up(self, error: StoreError) -> None:
        self._broken = True
        if self._store is not None:
            self._store.close()
        self._store = None
        self.warnings.append(str(error))


session = Session()
