"""This file is a watched test: a run around it, and what is said when it fails."""

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torchmagic.analyses.counting import counted
from torchmagic.analyses.finding_files import FILE
from torchmagic.debuggers.followed import follow, place_of_report
from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch
from torchmagic.rules.failing import failing
from torchmagic.session.run import Run, Status
from torchmagic.session.session import Session
from torchmagic.views.brief import run_text
from torchmagic.views.page import Findings, Page
from torchmagic.views.skins.text import as_text


def wanted(asked: Mapping[str, Any], *, name: str) -> Settings:
    """Return how a test is watched: it fails at errors and writes no store, unless it is asked otherwise.

    Args:
        asked: What its marks say.
        name: Its name.

    Raises:
        ValueError: If a setting is unknown or wrong.
    """
    return Settings.from_dict({"fail_on": "error", "save": False, "name": name, **asked})


class WatchedTest:
    """The watch around one test.

    Args:
        settings: How it is watched.
        function: The test's function, whose source rules read; None where there is none.
        file: Where it stands.

    Raises:
        OSError: If its report could not be written where it is to be.

    Attributes:
        run: The run; its findings are there once ``stop`` was called, or the test has ended.
    """

    def __init__(self, settings: Settings, *, function: Any, file: Path) -> None:
        self._settings = settings
        self._place = place_of_report(settings)
        names = getattr(inspect.unwrap(function), "__globals__", {}) if function is not None else {}
        # A session of its own: the runs of a long suite are not kept.
        self._watch = Watch(settings, namespace=names, source=_source(function), session=Session())
        self._watch.run.settings |= {FILE: str(file)}
        self.run: Run = self._watch.run

    def start(self) -> None:
        """Watch torch from here on."""
        self._watch.start()

    def stop(self, error: BaseException | None = None) -> Run:
        """Watch no more and draw the findings, so that the test itself can look at them; safe to call twice.

        Args:
            error: What ended the test; None where it goes on, or ended well.
        """
        is_over = self.run.status is not Status.RUNNING
        run = self._watch.stop(error)
        if not is_over:
            follow(run, self._settings, place=self._place)
        return run

    @property
    def told(self) -> str:
        """The run in few lines."""
        return run_text(self.run)

    @property
    def failure(self) -> str:
        """What is said of the findings that fail the test; empty where there are none."""
        found = failing(self.run.findings, self._settings.fail_on)
        if not found:
            return ""
        number = counted(len(found), "finding")
        return f"torchmagic: {number}\n\n{as_text(Page(title='', blocks=[Findings(findings=found)]))}"


def _source(function: Any) -> str:
    """Return a function's source on the lines that it has in its file; empty where it cannot be read."""
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        return ""
    return "\n" * (first - 1) + inspect.cleandoc("\n" + "".join(lines)) if lines else ""
