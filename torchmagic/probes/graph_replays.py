"""This file counts replays of graphs in which a device's work was captured, and says that nothing inside is seen."""

from types import FrameType

from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.sites import place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.records.compilation import GraphReplaysRecord
from torchmagic.records.note import NoteRecord
from torchmagic.session.recorder import Recorder

WHOLE = "A captured graph was replayed {:,} times: nothing inside a replay can be seen, be it a loss, a backward or a "
WHOLE += "step. What is outside it is, and what needs the whole step to be seen is not judged."
CALLABLE = (
    "A module was made a graphed callable: what it gives, gradients and steps are seen; modules inside it are not."
)
_CALLABLES = "torch."


class GraphReplays:
    """Records a ``GraphReplaysRecord`` at the first replay of each kind, and at the end a ``NoteRecord``."""

    flush = nothing_waits

    def __init__(self) -> None:
        self._recorder: Recorder | None = None
        self._counts: dict[bool, int] = {}

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for replays."""
        self._recorder = recorder
        taps.on("graph_replayed", self._replayed)

    def detach(self) -> None:
        """Say what could not be seen, and let go of everything."""
        recorder, self._recorder = self._recorder, None
        if recorder is not None:
            for whole, count in self._counts.items():
                recorder.add(NoteRecord(text=WHOLE.format(count) if whole else CALLABLE))

    def _replayed(self, frame: FrameType) -> None:
        whole = not str(frame.f_globals.get("__name__")).startswith(_CALLABLES)
        if whole not in self._counts and self._recorder is not None:
            self._recorder.add(GraphReplaysRecord(whole=whole, place=place_of(site_of(frame))))
        self._counts[whole] = self._counts.get(whole, 0) + 1
