"""This file is the panel as a widget: it carries pages to the browser and brings back what the reader wishes."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypedDict
from uuid import uuid4

import anywidget
import traitlets

from torchmagic.views.page import Page
from torchmagic.views.skins.wire import as_wire

_HERE = Path(__file__).parent
# one module for the browser; later files use what earlier ones define
_SCRIPTS = (
    "elements",
    "numbers",
    "scales",
    "plot",
    "bars",
    "rows",
    "table",
    "places",
    "flame",
    "source",
    "findings",
    "pages",
    "tabs",
    "controls",
    "progress",
    "head",
    "connection",
    "panel",
)


class Status(TypedDict, total=False):
    """What the panel's head says.

    Args:
        state: ``running``, ``ok``, ``error``, ``interrupted`` or ``lost``; ``sheet`` for
            pages of no run, without a head.
        step: Number of optimizer steps so far.
        elapsed: Seconds since the run began.
        overhead: Share of them spent inside torchmagic, 0 to 1; None while unknown.
        findings: How many findings there are by severity.
        first: Title of the finding to be read first; empty where there is none.
        doing: What is being done with the present step, such as which steps are profiled; empty where that goes
            without saying.
        progress: ``batch``, ``batches``, ``epoch``, ``seconds_per_step``, ``seconds_left`` and ``shares`` of a run that
            goes on; None where that is not known.
        watching: The level and the probes in force, as ``wishes.watched`` gives them; None where they are fixed.
    """

    state: str
    step: int
    elapsed: float
    overhead: float | None
    findings: Mapping[str, int]
    first: str
    doing: str
    progress: Mapping[str, Any] | None
    watching: Mapping[str, Any] | None


class Panel(anywidget.AnyWidget):
    """The live view of one run.

    What the reader does while the run goes on is only noted, in ``stop_requested``, ``wish``, ``open_tab`` and
    ``asked_row``: who runs the training asks for it between steps. Once the run is over, ``look`` answers at once.

    Args:
        title: Name of the run.
        uid: Id shared with the static copy of the same run, which the panel hides; a new one when empty.
    """

    _esm: ClassVar[str] = "\n".join((_HERE / "script" / f"{name}.js").read_text("utf-8") for name in _SCRIPTS)
    _css: ClassVar[str] = (_HERE / "panel.css").read_text("utf-8")

    uid = traitlets.Unicode().tag(sync=True)
    title = traitlets.Unicode().tag(sync=True)
    status = traitlets.Dict().tag(sync=True)
    names: traitlets.List[str] = traitlets.List().tag(sync=True)
    pages = traitlets.Dict().tag(sync=True)
    opened = traitlets.Dict().tag(sync=True)

    def __init__(self, *, title: str = "", uid: str = "", **traits: Any) -> None:
        status = Status(state="running", step=0, elapsed=0.0, overhead=None, findings={})
        super().__init__(**{"status": status, **traits, "title": title, "uid": uid or uuid4().hex[:12]})
        self.stop_requested = False
        self.wish: dict[str, Any] | None = None
        self.open_tab = ""
        self.asked_row = ""
        self.look: Callable[[str], Page] | None = None
        self.on_msg(self._answer)
        # ipykernel 7.4 sends the browser's messages on a comm to the shell that last published on it, which is the one
        # busy with the training. Earlier ones leave them on the browser's own subshell; restore that for this comm.
        if hasattr(self.comm, "_reply_subshell_for"):
            self.comm._reply_subshell_for = lambda _data, default: default  # noqa: SLF001 - there is no public way

    def update(
        self,
        status: Status | Mapping[str, Any],
        pages: Mapping[str, Page],
        *,
        names: Sequence[str] | None = None,
        opened: Mapping[str, Page] | None = None,
    ) -> None:
        """Show a new state in one message; what has not changed is not sent again.

        Args:
            status: See ``Status``.
            pages: Pages by the name of their tab.
            names: The tabs in their order, those without a page among them; None takes those of ``pages``.
            opened: The page of the open tab where it is not among ``pages``; None leaves the one that was sent last.
        """
        with self.hold_sync():
            self.status = dict(status)
            self.names = list(pages if names is None else names)
            self.pages = _wired(pages)
            if opened is not None:
                self.opened = _wired(opened)

    def finish(
        self, status: Status | Mapping[str, Any], pages: Mapping[str, Page], look: Callable[[str], Page]
    ) -> None:
        """Show the result; ``look`` gives the page of a row of the parameters when it is opened."""
        self.look = look
        self.update(status, pages, opened={})

    def show_opened(self, pages: Mapping[str, Page]) -> None:
        """Show the page of the open tab, and nothing else anew."""
        self.opened = _wired(pages)

    def tell_row(self, name: str, page: Page) -> None:
        """Send what is known of one row of the parameters."""
        self.send({"type": "row", "name": name, "page": as_wire(page)})

    def _answer(self, _widget: object, content: Mapping[str, Any], _buffers: Sequence[object]) -> None:
        # may run on the thread of a subshell, beside the training: set a flag or answer, nothing else
        kind = content.get("type")
        if kind == "stop":
            self.stop_requested = True
        elif kind == "change":
            self.wish = dict(content)
        elif kind == "tab":
            self.open_tab = str(content.get("name", ""))
        elif kind == "row":
            self._answer_row(str(content.get("name", "")))
        elif kind == "hello":
            self.send({"type": "hello-ack"})
        elif kind == "resync":
            self.send_state()

    def _answer_row(self, name: str) -> None:
        if self.look is None:
            self.asked_row = name
        else:
            self.tell_row(name, self.look(name))

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Show the widget, and nothing where no widget can be shown: the static copy is an output of its own."""
        bundle = super()._repr_mimebundle_(**options)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        return {**data, "text/html": "", "text/plain": ""}, metadata


def _wired(pages: Mapping[str, Page]) -> dict[str, Any]:
    return {name: as_wire(page) for name, page in pages.items()}
