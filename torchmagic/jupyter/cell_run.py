"""This file is the run of a cell: opened, closed and shown, with a wall around each, so that the cell never suffers."""

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from torchmagic.jupyter.asked import Together
from torchmagic.jupyter.cell_names import FileNames
from torchmagic.jupyter.showing import Showing
from torchmagic.jupyter.waiting_room import WaitingRoom
from torchmagic.jupyter.wall import tell, tell_once, wall
from torchmagic.records.finding import Finding
from torchmagic.records.model import ModelRecord
from torchmagic.session.ranked import is_shown
from torchmagic.session.run import Run
from torchmagic.session.session import session

if TYPE_CHECKING:
    from torchmagic.debuggers.watching import Watch


class CellRun:
    """One watched run of a cell or a statement.

    Args:
        asked: What its headers ask for: what is measured, and how it is shown.
        namespace: The user's names.
        showing: Where the run appears.
        source: The cell as it was typed.
        automatic: Whether the run was opened without being asked for by a header; it is then kept and shown only if
            a model ran in it.

    Attributes:
        settings: How the run is watched.
    """

    def __init__(
        self,
        asked: Together,
        *,
        namespace: Mapping[str, Any],
        showing: Showing,
        source: str = "",
        automatic: bool = False,
        file_names: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        self.asked = asked
        self.settings = self.asked.settings
        self.automatic = automatic
        self.run: Run | None = None
        self._namespace = namespace
        self._showing = showing
        self._source, self._file_names = source, file_names
        self._watch: Watch | None = None
        self._num_records, self._shown = -1, True
        self._session = WaitingRoom(session) if automatic else session

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found, once the run is closed."""
        return self.run.findings if self.run else ()

    def open(self) -> None:
        """Watch torch from here on."""
        with wall("watch this cell"):
            from torchmagic.debuggers.watching import Watch  # noqa: PLC0415 - torch waits for the first run

            self._watch = Watch(
                self.settings,
                namespace=self._namespace,
                source=self._source,
                on_step=self._step,
                session=self._session,
                beside=(*self.asked.probes(self._namespace), FileNames(self._file_names)),
            )
            self._watch.run.settings |= self.asked.kept
            self.run = self._watch.start()
            self._showing.watch = self._watch
        if self._watch is not None and self.run is not None and not self.automatic and self._is_shown:
            with wall("show the panel"):
                began = time.perf_counter_ns()
                self._showing.begin(self.run)
                self._watch.book(time.perf_counter_ns() - began)

    @property
    def is_open(self) -> bool:
        """Whether torch is being watched."""
        return self._watch is not None

    def explain(self, error: BaseException) -> None:
        """Say under the traceback that is about to be shown what the error is about."""
        if self._watch is not None:
            with wall("explain the error"):
                self._watch.explain(error)

    def close(self, error: BaseException | None) -> None:
        """Leave torch as it was found, and draw the findings; safe to call twice."""
        watch, self._watch = self._watch, None
        if watch is not None:
            with wall("close the run"):
                if self.run is not None and self.run.of(ModelRecord):
                    self._admit(self.run)
                watch.stop(error)

    @property
    def _is_shown(self) -> bool:
        """Whether this process is the one to show it: of the ranks of a distributed run, rank 0 is."""
        if self.settings.every_rank or self.run is None:
            return True
        if len(self.run.records) != self._num_records:  # asked at each step, and a run may have thousands
            self._num_records, self._shown = len(self.run.records), is_shown(self.run)
        return self._shown

    def _step(self, run: Run) -> None:
        self._admit(run)
        if self._is_shown:
            self._showing.step(run)

    def _admit(self, run: Run) -> None:
        if isinstance(self._session, WaitingRoom):
            self._session.admit(run)

    def show(self) -> None:
        """Show the result, and write the report that was asked for."""
        if self.run is None:
            return
        if self.automatic and not self.run.of(ModelRecord):
            return
        if not self._is_shown:
            return
        with wall("show the result"):
            self._showing.end(self.run)
        if self.settings.report:
            self._write_report(self.run)
        for warning in session.warnings:
            tell_once(warning)

    def _write_report(self, run: Run) -> None:
        with wall("draw the report"):
            try:
                run.report(self.settings.report)
            except OSError as error:
                tell(f"the report was not written: {error}")
