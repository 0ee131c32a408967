"""This file is the showing: what of a run is seen when it begins, while it goes on and when it has ended."""

import _thread
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from IPython.display import display

from torchmagic.debuggers.settings import PanelMode
from torchmagic.jupyter.panel.tabs import tab_pages
from torchmagic.jupyter.wall import wall
from torchmagic.session.run import Run
from torchmagic.session.run import Status as RunStatus
from torchmagic.views.findings import headline
from torchmagic.views.skins.text import as_text

if TYPE_CHECKING:
    from torchmagic.jupyter.panel.widget import Panel, Status

# Often enough to look alive; the front end drops messages at about a thousand a second, counted over all outputs.
SECONDS_BETWEEN_REFRESHES = 0.25
# Most of the training time that refreshes may take.
REFRESH_SHARE = 0.02


class Showing:
    """Shows one run.

    Args:
        mode: When and how.
        front_end: Whether widgets can be shown; without, the result is text.
        cell_id: The notebook's name for the cell; a panel that the same cell showed earlier is closed.
        clock: Seconds, from any start.
    """

    _panels: dict[str, "Panel"] = {}  # noqa: RUF012 - shared on purpose: the newest panel of each cell

    def __init__(
        self,
        mode: PanelMode,
        *,
        front_end: bool,
        cell_id: str | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.mode = PanelMode.TEXT if mode is not PanelMode.NONE and not front_end else mode
        self._cell_id = cell_id
        self._clock = clock
        self._panel: Panel | None = None
        self._next = 0.0

    def begin(self, run: Run) -> None:
        """Show a live panel, where one was asked for."""
        if self.mode is PanelMode.LIVE and self._panel is None:
            self._open(run)

    def step(self, run: Run) -> None:
        """Refresh the live panel if it is time.

        Raises:
            KeyboardInterrupt: If Stop was pressed on the panel.
        """
        if self.mode is not PanelMode.LIVE:
            return
        if self._panel is not None and self._panel.stop_requested:
            self._stop()
        now = self._clock()
        if now < self._next:
            return
        with wall("refresh the panel"):
            if self._panel is None:
                self._open(run)
            else:
                self._panel.update(_status(run), tab_pages(run))
        finished = self._clock()
        self._next = finished + max(SECONDS_BETWEEN_REFRESHES, (finished - now) / REFRESH_SHARE)

    def end(self, run: Run) -> None:
        """Show the final result: the panel with a copy of its own that needs no kernel, or text."""
        if self.mode is PanelMode.NONE:
            return
        pages = tab_pages(run)
        if self.mode is PanelMode.TEXT:
            print(as_text(list(pages.values()), title=headline(run)))  # noqa: T201 - the output of the cell
            return
        if self._panel is None:
            self._open(run)
        else:
            self._panel.update(_status(run), pages)
        from torchmagic.jupyter.display import show, static_bundle  # noqa: PLC0415 - loads the figures' library

        show(static_bundle(list(pages.values()), title=headline(run), uid=run.id))

    def _open(self, run: Run) -> None:
        from torchmagic.jupyter.panel.widget import Panel  # noqa: PLC0415 - ipywidgets wait for the first panel

        earlier = self._panels.pop(self._cell_id, None) if self._cell_id else None
        if earlier is not None:
            earlier.close()
        self._panel = Panel(uid=run.id, title=_title(run))
        self._panel.update(_status(run), tab_pages(run))
        display(self._panel)  # type: ignore[no-untyped-call] # IPython's
        if self._cell_id:
            self._panels[self._cell_id] = self._panel

    def _stop(self) -> None:
        if threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt("stopped from the panel")
        _thread.interrupt_main()


def _title(run: Run) -> str:
    return run.name or "torchdebug"


def _status(run: Run) -> "Status":
    running = run.status is RunStatus.RUNNING
    return {
        "state": run.status.value,
        "step": run.steps,
        "elapsed": round(time.time() - run.clock.started if running else run.clock.seconds, 3),
        "overhead": run.overhead if run.clock.seconds else None,
        "findings": Counter(finding.severity.value for finding in run.findings),
    }
