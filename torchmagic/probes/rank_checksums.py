"""This file takes checksums of a rank's weights, buffers and gradients, at steps that are the same on every rank."""

from collections.abc import Sequence
from types import FrameType

import torch

from torchmagic.probes.cast import Cast
from torchmagic.probes.members import Model, is_lazy
from torchmagic.probes.rank_models import local_part
from torchmagic.probes.taps import Taps
from torchmagic.records.ranks import Checked, ChecksumRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.checksum import checksums, is_shard, together

# Steps at powers of two up to here are looked at, and from here on each so manieth.
EVERY = 64
# After so many records of one kind a record says whether anything differs, and no longer what.
MOST_DETAILED = 24


def next_checked(step: int) -> int:
    """Return the first step after this one at which checksums are taken; it depends on nothing but the step."""
    return step - step % EVERY + EVERY if step >= EVERY else 1 << step.bit_length()


class RankChecksums:
    """Records ``ChecksumRecord`` before the optimizer steps at steps 0, 1, 2, 4, … 64, 128, 192, …, and at the end.

    Nothing is communicated here: whoever reads the runs of all ranks compares.
    """

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._recorder: Recorder | None = None
        self._next = 0
        self._taken: dict[tuple[str, Checked], int] = {}

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for steps."""
        self._recorder = recorder
        while self._next < recorder.step:
            self._next = next_checked(self._next)
        taps.on("step_begin", self._stepping)

    def flush(self, step: int) -> None:
        """Close the step: the next one may be one to look at."""
        if step >= self._next:
            self._next = next_checked(step)

    def detach(self) -> None:
        """Take the last ones, of models that are still there."""
        recorder, self._recorder = self._recorder, None
        if recorder is not None and recorder.step:
            for model in self._cast.models:
                self._look(recorder, model, last=True)

    def _stepping(self, optimizer: torch.optim.Optimizer, frame: FrameType) -> None:
        recorder = self._recorder
        if recorder is None or recorder.step != self._next:
            return
        owned = {id(each) for group in optimizer.param_groups for each in group["params"]}
        for model in self._cast.models:
            held = [(name, value) for name, ref in model.parameters.items() if (value := ref()) is not None]
            mine = [(name, value) for name, value in held if id(value) in owned]
            if mine:
                self._look(recorder, model)
                self._take(recorder, model, Checked.GRADIENT, [(name, value.grad) for name, value in mine])

    def _look(self, recorder: Recorder, model: Model, *, last: bool = False) -> None:
        module = model.ref()
        if module is None:
            return
        weights = [(name, value) for name, ref in model.parameters.items() if (value := ref()) is not None]
        prefix = f"{model.name}."
        buffers = [(prefix + name, value) for name, value in module.named_buffers()]
        self._take(recorder, model, Checked.WEIGHT, weights, last=last)
        if buffers:
            self._take(recorder, model, Checked.BUFFER, buffers, last=last)

    def _take(
        self,
        recorder: Recorder,
        model: Model,
        what: Checked,
        tensors: Sequence[tuple[str, torch.Tensor | None]],
        *,
        last: bool = False,
    ) -> None:
        shards = tuple(name for name, each in tensors if each is not None and is_shard(each))
        whole = [
            (name, each)
            for name, each in tensors
            if each is not None and not is_lazy(each) and each.layout is torch.strided and name not in set(shards)
        ]
        found = dict(zip((n for n, _ in whole), checksums([local_part(each) for _, each in whole]), strict=True))
        digests = {name: digest for name, digest in found.items() if digest}
        kind = model.name, what
        self._taken[kind] = self._taken.get(kind, 0) + 1
        detailed = last or self._taken[kind] <= MOST_DETAILED
        recorder.add(
            ChecksumRecord(
                step=recorder.step,
                model=model.name,
                what=what,
                whole=together([f"{name}={digest}" for name, digest in digests.items()]),
                digests=digests if detailed else {},
                shards=shards,
                skipped=tuple(name for name, _ in tensors if name not in digests and name not in set(shards)),
                last=last,
            )
        )
