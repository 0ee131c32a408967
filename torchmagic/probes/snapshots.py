"""This file takes snapshots: histograms of weights, gradients and outputs, ever more rarely, and as the run ends."""

from collections.abc import Iterator, Sequence
from time import monotonic, thread_time
from types import FrameType
from typing import Any

import torch
from torch import nn

from torchmagic.probes.cast import Cast
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.taps import Taps
from torchmagic.records.note import NoteRecord
from torchmagic.records.snapshot import SnapshotKind, SnapshotRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.glance import readable
from torchmagic.tensors.histograms import histograms_of
from torchmagic.tensors.near import all_brought_near

# A histogram of this many values, taken at even distances, looks like that of all.
MOST_VALUES = 1 << 14
NUM_SAMPLES = 16
# Outputs wait for the parameters until they have so many values together.
MOST_WAITING = 1 << 22
# At about 3 KB each these are 36 MB: the history of 300 parameters over a million steps.
MOST_SNAPSHOTS = 12_000
# The end of a run waits no longer than this for the last look: so many seconds, and a share of the run's own.
MOST_SECONDS, MOST_SHARE = 0.1, 0.05
# Tensors that are looked at between two looks at the clock.
TOGETHER = 8
# What a tensor is, the name of the parameter or path of the module, and the tensor, of any shape.
Wanted = tuple[SnapshotKind, str, torch.Tensor]
FULL = f"the history of tensors was full after {MOST_SNAPSHOTS} snapshots: later ones were not taken"


class Snapshots:
    """Records ``SnapshotRecord`` at the steps 0, 1, 2, 4, 8 and so on."""

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._recorder: Recorder | None = None
        self._taps: Taps | None = None
        self._next = 0
        self._taken = 0
        self._seen: set[str] = set()
        self._waiting: list[Wanted] = []
        self._num_waiting = 0

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for steps, and for the innermost modules where another probe has them told."""
        self._recorder, self._taps = recorder, taps
        taps.on("leaf", self._output)
        taps.on("step_begin", self._parameters)

    def flush(self, step: int) -> None:
        """Decide whether the next step is one of those."""
        self._seen.clear()
        self._take_waiting()
        self._next = 1 << step.bit_length()
        if self._taps is not None:
            self._taps.rest(self, until=self._next)
        if self._taken >= MOST_SNAPSHOTS and self._recorder is not None:
            self._recorder.add(NoteRecord(text=FULL))
            self.detach()

    def detach(self) -> None:
        """Take none any more."""
        self._take_waiting()
        self._recorder = self._taps = None

    def _is_due(self) -> bool:
        return self._recorder is not None and self._recorder.step >= self._next

    def _take_waiting(self) -> None:
        """Take outputs that no optimizer's step followed."""
        self._take(self._handed_over())

    def _handed_over(self) -> list[Wanted]:
        waiting, self._waiting, self._num_waiting = self._waiting, [], 0
        return waiting

    def _output(self, module: nn.Module, args: Any, output: Any) -> None:
        if self._is_due() and isinstance(output, torch.Tensor):
            path = self._cast.path_of(module)
            if path is not None and path not in self._seen:  # the first call of a shared module stands for all
                self._seen.add(path)
                self._meet((SnapshotKind.ACTIVATION, path, output))

    def _meet(self, output: Wanted) -> None:
        """Take an output with the parameters, by one transfer from a device, as it is now."""
        kind, path, values = output
        if readable(values):
            self._waiting.append((kind, path, _spread(values.detach().reshape(-1), MOST_VALUES).clone()))
            self._num_waiting += self._waiting[-1][2].numel()
            if self._num_waiting > MOST_WAITING:
                self._take_waiting()

    def _parameters(self, optimizer: torch.optim.Optimizer, frame: FrameType) -> None:
        if not self._is_due():
            return
        entry = self._cast.optimizer(optimizer)
        pairs = [
            (name, value) for name, ref in zip(entry.names, entry.refs, strict=True) if (value := ref()) is not None
        ]
        wanted = self._handed_over()
        for name, value in pairs:
            wanted.append((SnapshotKind.WEIGHT, name, value))
            if value.grad is not None:
                wanted.append((SnapshotKind.GRADIENT, name, value.grad))
        self._take(wanted)

    def _take(self, wanted: list[Wanted]) -> None:
        left = MOST_SNAPSHOTS - self._taken
        if self._recorder is None or left <= 0:
            return
        for taken in snapshots(wanted[:left], self._recorder.step):
            self._taken += 1
            self._recorder.add(taken)


class LastLook:
    """Records a ``SnapshotRecord`` of each parameter and its gradient as the run leaves them; the first ones if slow.

    Args:
        cast: The models and optimizers.
        most_seconds: How long the look may take, beside a share of the time since the run began.
    """

    flush = nothing_waits

    def __init__(self, cast: Cast, *, most_seconds: float = MOST_SECONDS) -> None:
        self._cast, self._most_seconds = cast, most_seconds
        self._recorder: Recorder | None = None
        self._began = 0.0

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Nothing is to be heard: it is the end that counts."""
        self._recorder, self._began = recorder, monotonic()

    def detach(self) -> None:
        """Look."""
        recorder, self._recorder = self._recorder, None
        if recorder is None or not recorder.step:
            return
        # Of this thread, as a busy machine makes the look no dearer.
        until = thread_time() + self._most_seconds + MOST_SHARE * (monotonic() - self._began)
        known = [pair for entry in self._cast.optimizers for pair in zip(entry.names, entry.refs, strict=True)]
        for kind in (SnapshotKind.WEIGHT, SnapshotKind.GRADIENT):
            held = [(name, value) for name, ref in known if (value := ref()) is not None]
            seen = [(kind, name, value.grad if kind is SnapshotKind.GRADIENT else value) for name, value in held]
            wanted = [(what, name, each) for what, name, each in seen if each is not None]
            for start in range(0, len(wanted), TOGETHER):
                if thread_time() <= until:
                    for look in snapshots(wanted[start : start + TOGETHER], recorder.step):
                        recorder.add(look)


def snapshots(wanted: Sequence[Wanted], step: int) -> Iterator[SnapshotRecord]:
    """Yield how the values of tensors are spread; those that have none that can be read are left out.

    Args:
        wanted: The tensors.
        step: Optimizer steps made so far.
    """
    held = [each for each in wanted if readable(each[2]) and each[2].numel()]
    near = all_brought_near([_spread(tensor.detach().reshape(-1), MOST_VALUES) for _, _, tensor in held])
    for (kind, subject, _), values, histogram in zip(held, near, histograms_of(near), strict=True):
        samples = tuple(_spread(values, NUM_SAMPLES).tolist())
        yield SnapshotRecord(what=kind, subject=subject, step=step, histogram=histogram, values=samples)


def _spread(flat: torch.Tensor, most: int) -> torch.Tensor:
    """Return at most so many elements, at even distances."""
    apart = -(-flat.numel() // most)
    return flat if apart <= 1 else flat[::apart]
