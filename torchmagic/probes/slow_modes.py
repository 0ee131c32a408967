"""This file watches the modes of torch's that make every step slow: anomaly detection and the profiler."""

import torch

from torchmagic.probes.pacing import next_look
from torchmagic.probes.replay_wrappers import Detection
from torchmagic.probes.taps import Taps
from torchmagic.records.feeding import SlowModeRecord
from torchmagic.session.recorder import Recorder


class SlowModes:
    """Records a ``SlowModeRecord`` at each look, for each such mode that the user's code has on."""

    def __init__(self) -> None:
        self._recorder: Recorder | None = None
        self._taps: Taps | None = None

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Begin to look."""
        self._taps, self._recorder = taps, recorder
        taps.on("step_begin", self._stand_by)

    def flush(self, step: int) -> None:
        """Look, and rest until the next look."""
        if self._taps is None or self._recorder is None:
            return
        if torch.is_anomaly_enabled() and self._taps.anomaly_detection is Detection.OFF:
            self._recorder.add(SlowModeRecord(step=step, mode="detect_anomaly"))
        if torch._C._autograd._profiler_enabled():
            self._recorder.add(SlowModeRecord(step=step, mode="profiler"))
        self._taps.rest(self, until=next_look(step))

    def detach(self) -> None:
        """Let go of everything."""
        self._taps = self._recorder = None

    def _stand_by(self, optimizer: object, frame: object) -> None:
        """Do nothing: only who listens can rest."""
