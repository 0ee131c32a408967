"""This file is the progress of a rank: what it did last, and since when, for whoever asks while it is silent."""

import time
from types import FrameType
from typing import Any

from torchmagic.probes.taps import Taps
from torchmagic.session.recorder import Recorder

now = time.monotonic


class Progress:
    """Keeps one event and the moment at which it began, for any thread to read, and records ``step_wall`` per step.

    Attributes:
        last: Name of the event, whether it still goes on, and the monotonic second at which it began.
    """

    def __init__(self) -> None:
        self.last: tuple[str, bool, float] = ("start", False, now())
        self._recorder: Recorder | None = None

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for everything that shows that the rank goes on."""
        self._recorder = recorder
        taps.on("root_begin", self._forward)
        taps.on("backward_begin", self._backward)
        taps.on("backward_end", self._backward_end)
        taps.on("step_begin", self._step)
        taps.on("batch", self._batch)
        taps.on("collective_begin", self._collective)
        taps.on("collective_end", self._collective_end)

    @property
    def step(self) -> int:
        """Optimizer steps made."""
        return self._recorder.step if self._recorder is not None else 0

    def flush(self, step: int) -> None:
        """A step was made."""
        self.last = "step done", False, now()
        if self._recorder is not None:
            self._recorder.append("step_wall", (time.time(),))

    def detach(self) -> None:
        """Nothing is held."""

    def _forward(self, module: Any, args: Any, kwargs: Any, frame: FrameType) -> None:
        self.last = "forward", True, now()

    def _backward(self, tensors: Any, frame: FrameType) -> None:
        self.last = "backward", True, now()

    def _backward_end(self, tensors: Any, nanoseconds: int) -> None:
        self.last = "backward", False, now()

    def _step(self, optimizer: Any, frame: FrameType) -> None:
        self.last = "optimizer", True, now()

    def _batch(self, iterator: Any, batch: Any, nanoseconds: int) -> None:
        self.last = "batch", False, now()

    def _collective(self, name: str) -> None:
        self.last = name, True, now()

    def _collective_end(self, name: str, args: Any, kwargs: Any, nanoseconds: int, frame: FrameType) -> None:
        self.last = name, False, now()
