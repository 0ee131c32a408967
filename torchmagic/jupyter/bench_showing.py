"""This file is how a benchmark appears: a panel that fills while it is measured, and a copy of it that stays."""

import time
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from IPython.display import display

from torchmagic.jupyter.panel.shelf import Shelf
from torchmagic.jupyter.wall import wall
from torchmagic.records.benchmark import BenchmarkRecord
from torchmagic.views.benchmark import benchmark_page

if TYPE_CHECKING:
    from torchmagic.jupyter.panel.widget import Panel

TITLE = "torchbench"


class BenchShowing:
    """Shows one benchmark.

    Args:
        front_end: Whether widgets can be shown; without, the result is text.
    """

    shelf = Shelf()

    def __init__(self, *, front_end: bool) -> None:
        self._front_end = front_end
        self._uid, self._began = uuid4().hex[:12], time.perf_counter()
        self._panel: Panel | None = None

    @property
    def is_stopped(self) -> bool:
        """Whether Stop was pressed."""
        return self._panel is not None and self._panel.stop_requested

    def tell(self, doing: str, found: BenchmarkRecord | None = None) -> None:
        """Show what is being done, and what was found so far."""
        if not self._front_end:
            return
        with wall("refresh the panel"):
            pages = {} if found is None else {each.title: each for each in [benchmark_page(found)]}
            elapsed = round(time.perf_counter() - self._began, 3)
            status: Any = {"state": "running", "step": 0, "elapsed": elapsed, "overhead": None, "doing": doing}
            if self._panel is None:
                self._open()
            if self._panel is not None:
                self._panel.update({**status, "findings": {}}, pages)

    def end(self, found: BenchmarkRecord) -> None:
        """Show what was found."""
        page = benchmark_page(found)
        if not self._front_end:
            from torchmagic.views.skins.text import as_text  # noqa: PLC0415 - loaded when something is shown

            print(as_text(page))  # noqa: T201 - the output of the cell
            return
        with wall("refresh the panel"):
            if self._panel is not None:
                self._panel.update({"state": "sheet"}, {page.title: page})
        from torchmagic.jupyter.display import show, static_bundle  # noqa: PLC0415 - loads the figures' library

        show(static_bundle([page], title=TITLE, uid=self._uid))

    def _open(self) -> None:
        from torchmagic.jupyter.panel.widget import Panel  # noqa: PLC0415 - ipywidgets wait for the first panel

        self._panel = Panel(uid=self._uid, title=TITLE)
        self.shelf.put(self._panel)
        display(self._panel)  # type: ignore[no-untyped-call] # IPython's
