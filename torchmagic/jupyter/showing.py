"""This file is the showing: what of a run is seen when it begins, while it goes on and when it has ended."""

import _thread
import os
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from IPython.display import display

from torchmagic.analyses.ranks_steps import told_steps
from torchmagic.api.baseline import baseline_pages
from torchmagic.debuggers.settings import PanelMode
from torchmagic.jupyter.panel.shelf import Shelf
from torchmagic.jupyter.panel.tabs import CHEAP, LIVE, TABS, tab_pages
from torchmagic.jupyter.panel.wishes import watched, wished
from torchmagic.jupyter.wall import wall
from torchmagic.session.run import Run
from torchmagic.session.run import Status as RunStatus
from torchmagic.session.session import session
from torchmagic.views.brief import run_text
from torchmagic.views.findings import called, headline
from torchmagic.views.pages import run_pages
from torchmagic.views.parameter_page import parameter_page
from torchmagic.views.skins.text import as_text

if TYPE_CHECKING:
    from torchmagic.debuggers.switches import Changeable
    from torchmagic.jupyter.panel.widget import Panel, Status

MORE = "%torchsession show"
# Often enough to look alive; the front end drops messages at about a thousand a second, counted over all outputs.
SECONDS_BETWEEN_REFRESHES = 0.25
# Most of the training time that refreshes may take: one half the head and the cheap pages, one half the open page.
REFRESH_SHARE = 0.02


class Showing:
    """Shows one run.

    Args:
        mode: When and how.
        front_end: Whether widgets can be shown; without, the result is text.
        cell_id: The notebook's name for the cell; a panel that the same cell showed earlier is closed.
        title: Name of a run that has none.
        doing: Says what is being done after so many optimizer steps; empty where there is nothing to say.
        quiet: Whether only the head of the panel is refreshed while the run goes on, and its pages wait for the end.
        clock: Seconds, from any start.

    Attributes:
        watch: What the controls of the panel change, on the thread that trains; without it there are no controls.
    """

    shelf = Shelf()

    def __init__(
        self,
        mode: PanelMode,
        *,
        front_end: bool,
        cell_id: str | None = None,
        title: str = "torchdebug",
        doing: Callable[[int], str] = lambda _steps: "",
        quiet: bool = False,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.mode = PanelMode.TEXT if mode is not PanelMode.NONE and not front_end else mode
        self.watch: Changeable | None = None
        self._cell_id = cell_id
        self._title, self._doing, self._quiet = title, doing, quiet
        self._clock = clock
        self._process = os.getpid()  # the notebook does not hear a process that is forked off
        self._panel: Panel | None = None
        self._next = 0.0
        self._next_open = 0.0
        self._open_tab = ""

    def begin(self, run: Run) -> None:
        """Show a live panel, where one was asked for."""
        if self.mode is PanelMode.LIVE and self._panel is None:
            self._open(run)

    def step(self, run: Run) -> None:
        """Refresh the live panel if it is time, and hand on what its reader wishes.

        Raises:
            KeyboardInterrupt: If Stop was pressed on the panel.
        """
        if self.mode is not PanelMode.LIVE or os.getpid() != self._process:
            return
        panel = self._panel
        if panel is not None:
            if panel.stop_requested:
                self._stop()
            if panel.wish is not None:
                self._change(panel)
        now = self._clock()
        if now < self._next:
            return
        with wall("refresh the panel"):
            if panel is None:
                self._open(run)
            else:
                self._refresh(run, panel)
        finished = self._clock()
        self._next = finished + max(SECONDS_BETWEEN_REFRESHES, (finished - now) / (REFRESH_SHARE / 2))
        if panel is not None:
            with wall("refresh the open page"):
                self._refresh_open(run, panel)

    def end(self, run: Run) -> None:
        """Show the final result: the panel with a copy of its own that needs no kernel, or text."""
        if self.mode is PanelMode.NONE:
            return
        beside = {page.title: page for page in baseline_pages(session, run)}
        pages = [*run_pages(run), *beside.values()]
        text = "\n\n".join([run_text(run), *map(as_text, beside.values()), f"More: {MORE} {run.number or 'last'}"])
        if self.mode is PanelMode.TEXT:
            print(text)  # noqa: T201 - the output of the cell
            return
        if self._panel is None:
            self._open(run)
        if self._panel is not None:
            self._panel.title = called(run, nameless=self._title)  # it may have got its number since
            self._panel.finish(self._status(run), tab_pages(run) | beside, partial(parameter_page, run))
        from torchmagic.jupyter.display import show, static_bundle  # noqa: PLC0415 - loads the figures' library

        show(static_bundle(pages, title=headline(run), uid=run.id, text=text))

    def _open(self, run: Run) -> None:
        from torchmagic.jupyter.panel.widget import Panel  # noqa: PLC0415 - ipywidgets wait for the first panel

        panel = self._panel = Panel(uid=run.id, title=called(run, nameless=self._title))
        self.shelf.put(panel, cell_id=self._cell_id)
        self._refresh(run, panel)
        display(panel)  # type: ignore[no-untyped-call] # IPython's

    def _refresh(self, run: Run, panel: "Panel") -> None:
        pages = {} if self._quiet else {name: TABS[name](run) for name in CHEAP}
        panel.update(self._status(run), pages, names=[] if self._quiet else LIVE)

    def _refresh_open(self, run: Run, panel: "Panel") -> None:
        """Draw the page that is looked at, where it is a dear one: at once as its tab opens, then as it may cost."""
        if self._quiet:
            return
        tab, row, began = panel.open_tab, panel.asked_row, self._clock()
        if row:
            panel.asked_row = ""
            panel.tell_row(row, parameter_page(run, row))
        if tab in CHEAP or tab not in LIVE or (tab == self._open_tab and began < self._next_open):
            return
        self._open_tab = tab
        panel.show_opened({tab: TABS[tab](run)})
        finished = self._clock()
        self._next_open = finished + (finished - began) / (REFRESH_SHARE / 2)

    def _change(self, panel: "Panel") -> None:
        wish, panel.wish = panel.wish or {}, None
        with wall("change the settings"):
            if self.watch is not None:
                self.watch.change(wished(self.watch.wanted, wish))

    def _status(self, run: Run) -> "Status":
        running = run.status is RunStatus.RUNNING
        return {
            "state": run.status.value,
            "step": told_steps(run),
            "elapsed": round(time.time() - run.clock.started if running else run.clock.seconds, 3),
            "overhead": run.overhead if run.clock.seconds else None,
            "findings": Counter(finding.severity.value for finding in run.findings),
            "first": run.findings[0].title if run.findings and running else "",
            "progress": _progress(run) if running else None,
            "watching": watched(self.watch.wanted) if running and self.watch and not self._quiet else None,
            "doing": self._doing(run.steps) if running else "",
        }

    def _stop(self) -> None:
        if threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt("stopped from the panel")
        _thread.interrupt_main()


def _progress(run: Run) -> dict[str, Any] | None:
    progress = getattr(run, "progress", None)
    if progress is None:
        return None
    names = ("batch", "batches", "epoch", "seconds_per_step", "seconds_left")
    return {**{name: getattr(progress, name) for name in names}, "shares": dict(progress.shares)}
