"""This file watches for the beginning of training, and tells what a run set out with; after that it rests."""

from types import FrameType
from typing import Any

import torch
from torch import nn

from torchmagic.probes.cast import Cast
from torchmagic.probes.layer_settings import layer_settings
from torchmagic.probes.listeners import NEVER
from torchmagic.probes.members import Model
from torchmagic.probes.module_parts import is_training, uncompiled
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.taps import Taps
from torchmagic.records.beginning import BeginningRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.batch import fields_in, fingerprint, has_values
from torchmagic.tensors.checksum import checksums, digits
from torchmagic.tensors.glance import MOST_TENSORS
from torchmagic.tensors.presence import has_shape, is_transformed


class Beginning:
    """Records one ``BeginningRecord``: at the first forward that trains, else at the first backward or step."""

    flush = nothing_waits

    def __init__(self, cast: Cast, taps: Taps) -> None:
        self._cast, self._taps = cast, taps
        self._recorder: Recorder | None = None
        self._seed = 0

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Remember the seed, and listen for the first forward, backward or step."""
        self._recorder, self._seed = recorder, torch.initial_seed()
        taps.on("root_begin", self._called)
        taps.on("backward_begin", self._trains)
        taps.on("step_begin", self._trains)

    def detach(self) -> None:
        """Tell the seed where training was not seen to begin, if torch was seeded anew or steps were made; let go."""
        if self._recorder is not None and (self._recorder.step or torch.initial_seed() != self._seed):
            self._tell()
        self._recorder = None

    def _called(self, module: nn.Module, args: Any, kwargs: Any, frame: FrameType) -> None:
        if self._recorder is None:
            self._rest()
        elif self._taps.grad_enabled and is_training(module):
            model = self._cast.model_of(module)
            if model is not None and not is_transformed():
                self._tell(model, module, (*args, *kwargs.values()))

    def _trains(self, _: Any, frame: FrameType) -> None:
        self._tell()

    def _tell(self, model: Model | None = None, module: nn.Module | None = None, given: tuple[Any, ...] = ()) -> None:
        recorder, self._recorder = self._recorder, None
        self._rest()
        if recorder is None:
            return
        tensors = [each for _, each in list(fields_in(given))[:MOST_TENSORS]]
        recorder.add(
            BeginningRecord(
                seed=torch.initial_seed(),
                random="" if is_transformed() else checksums([torch.get_rng_state()])[0],
                model="" if model is None else model.name,
                batch_size=next((each.shape[0] for each in tensors if has_shape(each) and each.dim()), None),
                values=_digest(tensors),
                layers=None if module is None else layer_settings(uncompiled(module)),
            )
        )

    def _rest(self) -> None:
        self._taps.rest(self, until=NEVER)


def _digest(tensors: list[torch.Tensor]) -> str:
    """Return a digest of values that the host has; what an accelerator has is not waited for."""
    if not tensors or not all(each.device.type == "cpu" and has_values(each) for each in tensors):
        return ""
    return digits(repr([fingerprint(each) for each in tensors]).encode())
