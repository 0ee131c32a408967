"""This file is the runs that contexts leave behind: as many as one can look at, however many contexts there were."""

import threading
from collections import deque

from torchmagic.records.finding import Finding
from torchmagic.session.run import Run
from torchmagic.session.session import Session, session

# Runs of contexts that the session keeps in memory, and that are written to the store one by one.
MOST_RUNS = 100
# A run that made so many steps is written all the same: it is a training, not one step of many.
MANY_STEPS = 10
# So many different findings are each written once more, with the first run that has them.
MOST_NEWS = 200


class KeptRuns:
    """Keeps the newest runs of contexts in the session; of the others it writes those that say something new.

    Args:
        session: Where the runs are.
        most: How many of them stay in memory.
    """

    def __init__(self, session: Session, *, most: int = MOST_RUNS) -> None:
        self._session, self._most = session, most
        self._lock = threading.Lock()
        self._runs: deque[Run] = deque()
        self._written = 0
        self._news: set[tuple[str, str | None, str | None, int | None]] = set()

    @property
    def saves(self) -> bool:
        """Whether the next run is to be written as it goes on."""
        return self._written < self._most

    def add(self, run: Run, *, wanted: bool, written: bool) -> None:
        """Take in a run that has ended; the oldest one may leave the session.

        Args:
            run: The run.
            wanted: Whether runs are to be written.
            written: Whether this one was.
        """
        with self._lock:
            self._runs.append(run)
            too_many = [self._runs.popleft() for _ in range(len(self._runs) - self._most)]
            is_news = self._has_news(run)
            self._written += written
        for old in too_many:
            self._forget(old)
        if wanted and not written and (is_news or run.steps >= MANY_STEPS):
            self._session.write(run, final=True)

    def _has_news(self, run: Run) -> bool:
        found = {_place(finding) for finding in run.findings} - self._news
        if not found or len(self._news) + len(found) > MOST_NEWS:
            return False
        self._news |= found
        return True

    def _forget(self, run: Run) -> None:
        for index, each in enumerate(self._session.runs):
            if each is run:
                del self._session.runs[index]
                return


def _place(finding: Finding) -> tuple[str, str | None, str | None, int | None]:
    return finding.rule, finding.module, finding.parameter, finding.line


kept_runs = KeptRuns(session)
