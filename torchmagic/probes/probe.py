"""This file is the probe: what every probe offers."""

from typing import Protocol

from torchmagic.probes.taps import Taps
from torchmagic.session.recorder import Recorder


def nothing_waits(_probe: "Probe", _step: int) -> None:
    """Be the ``flush`` of a probe that hands over at once; it is known by identity and never called in a step."""


class Probe(Protocol):
    """Listens to the taps, measures, and hands records to the recorder."""

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Begin to listen."""

    def flush(self, step: int) -> None:
        """Reduce and hand over what the step left, and let go of its tensors."""

    def detach(self) -> None:
        """Let go of everything; safe to call twice."""
