"""This file says of what is compiled, beside a whole model, that nothing inside it is seen."""

from types import FrameType
from typing import Any

from torch import nn

from torchmagic.probes.cast import Cast
from torchmagic.probes.module_parts import uncompiled
from torchmagic.probes.pacing import next_look
from torchmagic.probes.taps import Taps
from torchmagic.records.note import NoteRecord
from torchmagic.session.recorder import Recorder

INSIDE = "{} is compiled: what it gives is seen; modules and losses inside it, and the operator that makes a "
INSIDE += "non-finite value there, are not."
NO_MODEL = " The model that it calls is known only by the parameters of its optimizer: compile the model itself, such "
NO_MODEL += "as by model.compile(), to see parameters by name."
MOST_NOTES = 8


class CompiledCalls:
    """Records a ``NoteRecord`` of each function, and of each part of a model, that is called compiled."""

    def __init__(self, cast: Cast, taps: Taps) -> None:
        self._cast, self._taps = cast, taps
        self._recorder: Recorder | None = None
        self._told: set[str] = set()
        self._untold: list[str] = []

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for calls of what is compiled."""
        self._recorder = recorder
        taps.on("compiled_call", self._called)

    def flush(self, step: int) -> None:
        """Tell what is new; then rest a while, for the same is called in every step."""
        self._tell()
        self._taps.rest(self, until=next_look(step))

    def detach(self) -> None:
        """Tell the rest, and let go of everything."""
        self._tell()
        self._recorder = None

    def _called(self, frame: FrameType) -> None:
        """Take the name of what the compiler's own frame is about to call."""
        name = self._name_of(frame.f_locals.get("fn"))
        if name and name not in self._told and len(self._told) < MOST_NOTES:
            self._told.add(name)
            self._untold.append(name)

    def _name_of(self, called: Any) -> str:
        """Return the name of what is called; empty for a whole model, of which the cast tells."""
        called = getattr(called, "__wrapped__", called)  # of a function of torch's the compiler sees a frame around it
        module = called if isinstance(called, nn.Module) else getattr(called, "__self__", None)
        if not isinstance(module, nn.Module):
            return getattr(called, "__qualname__", type(called).__name__).rpartition("<locals>.")[2]
        models = [root for model in self._cast.models if (root := model.ref()) is not None]
        if any(uncompiled(root) is module for root in models):
            return ""
        return self._cast.path_of(module) or type(module).__name__

    def _tell(self) -> None:
        untold, self._untold = self._untold, []
        if self._recorder is None:
            return
        for name in untold:
            self._recorder.add(NoteRecord(text=INSIDE.format(name) + ("" if self._cast.models else NO_MODEL)))
