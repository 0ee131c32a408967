"""This file is the reading of runs for answers: those of the process at once, stored ones one after the other."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from torchmagic.server.missing import MissingError
from torchmagic.server.served import Served
from torchmagic.session.history import Entry
from torchmagic.session.picking import picked
from torchmagic.session.run import Run
from torchmagic.session.status import Status

# A stored run may take some hundred megabytes; who looks at one asks for its series one after the other.
NUM_KEPT = 2


def keeps_source(run: Run) -> bool:
    """Whether the source of a run may leave the process."""
    return bool(run.settings.get("keep_source", True))


class Reader:
    """Finds runs for requests; any thread may ask.

    Args:
        served: What is served.
    """

    def __init__(self, served: Served) -> None:
        self._served = served
        self._turn = threading.Lock()
        self._kept: OrderedDict[tuple[Any, ...], Run] = OrderedDict()

    def entries(self) -> list[Entry]:
        """Return one line a run, oldest first; without a line of a source that is not to be kept.

        Raises:
            StoreError: If a store is served and cannot be read.
        """
        secret = {run.id for run in self.here() or () if not keeps_source(run)}
        entries = self._served.history()
        return [replace(each, heading=each.name) if each.id in secret else each for each in entries]

    def here(self) -> tuple[Run, ...] | None:
        """Return the runs of the process, oldest first; None where none is served."""
        return None if self._served.here is None else self._served.here()

    def run(self, which: str) -> Run:
        """Return a run.

        Args:
            which: Its number (negative ones count from the end), id or name, or ``last``.

        Raises:
            MissingError: If there is no such run; one line says which there are.
            StoreError: If the store holds it and cannot be read.
        """
        runs = self.here() or ()
        found = runs[-1] if which == "last" and runs else next((run for run in runs if which == run.id), None)
        if found is not None:  # what is asked for again and again costs no look at the store
            return found
        entry = self._picked(which, runs)
        return next((run for run in runs if run.id == entry.id), None) or self._stored(entry)

    def counted(self) -> Sequence[Run]:
        """Return the runs that a summary is about: those of the process, or, of a store, the newest.

        Raises:
            StoreError: If that one cannot be read.
        """
        runs = self.here()
        if runs is not None:
            return runs
        entries = self.entries()
        return [self._stored(entries[-1])] if entries else []

    def _picked(self, which: str, here: Sequence[Run]) -> Entry:
        try:
            return picked(self.entries(), which, here=tuple(run.id for run in here))
        except KeyError as error:
            raise MissingError(error.args[0]) from None

    def _stored(self, entry: Entry) -> Run:
        """Read a run whole, or take it from those that were read before and cannot have changed."""
        key = (entry.id, entry.status, entry.steps, entry.note, entry.tags)
        with self._turn:
            run = self._kept.pop(key, None) or self._served.read(entry.id)
            if run.status is not Status.RUNNING:
                self._kept[key] = run
                while len(self._kept) > NUM_KEPT:
                    self._kept.popitem(last=False)
            return run
