"""This file is the panel as a widget: it carries pages to the browser and brings back the wish to stop."""

from collections.abc import Mapping, Sequence
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
    "table",
    "scales",
    "plot",
    "bars",
    "findings",
    "pages",
    "tabs",
    "connection",
    "panel",
)


class Status(TypedDict):
    """What the panel's head says.

    Args:
        state: ``running``, ``ok``, ``error`` or ``interrupted``.
        step: Number of optimizer steps so far.
        elapsed: Seconds since the run began.
        overhead: Share of them spent inside torchmagic, 0 to 1; None while unknown.
        findings: How many findings there are by severity.
    """

    state: str
    step: int
    elapsed: float
    overhead: float | None
    findings: Mapping[str, int]


class Panel(anywidget.AnyWidget):
    """The live view of one run.

    ``stop_requested`` becomes True when the reader presses Stop; who runs the training asks for it between steps.

    Args:
        title: Name of the run.
        uid: Id shared with the static copy of the same run, which the panel hides; a new one when empty.
    """

    _esm: ClassVar[str] = "\n".join((_HERE / "script" / f"{name}.js").read_text("utf-8") for name in _SCRIPTS)
    _css: ClassVar[str] = (_HERE / "panel.css").read_text("utf-8")

    uid = traitlets.Unicode().tag(sync=True)
    title = traitlets.Unicode().tag(sync=True)
    status = traitlets.Dict().tag(sync=True)
    pages = traitlets.Dict().tag(sync=True)

    def __init__(self, *, title: str = "", uid: str = "", **traits: Any) -> None:
        status = Status(state="running", step=0, elapsed=0.0, overhead=None, findings={})
        super().__init__(**{"status": status, **traits, "title": title, "uid": uid or uuid4().hex[:12]})
        self.stop_requested = False
        self.on_msg(self._answer)
        # ipykernel 7.4 sends the browser's messages on a comm to the shell that last published on it, which is the one
        # busy with the training. Earlier ones leave them on the browser's own subshell; restore that for this comm.
        if hasattr(self.comm, "_reply_subshell_for"):
            self.comm._reply_subshell_for = lambda _data, default: default  # noqa: SLF001 - there is no public way

    def update(self, status: Status | Mapping[str, Any], pages: Mapping[str, Page]) -> None:
        """Show a new state: the whole of it, in one message.

        Args:
            status: See ``Status``.
            pages: Pages by the name of their tab, in the order of the tabs.
        """
        wired = {name: as_wire(page) for name, page in pages.items()}
        with self.hold_sync():
            self.status = dict(status)
            self.pages = wired

    def _answer(self, _widget: object, content: Mapping[str, Any], _buffers: Sequence[object]) -> None:
        # may run on the thread of a subshell, beside the training: set a flag or answer, nothing else
        kind = content.get("type")
        if kind == "stop":
            self.stop_requested = True
        elif kind == "hello":
            self.send({"type": "hello-ack"})
        elif kind == "resync":
            self.send_state()

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Show the widget, and nothing where no widget can be shown: the static copy is an output of its own."""
        bundle = super()._repr_mimebundle_(**options)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        return {**data, "text/html": "", "text/plain": ""}, metadata
