"""This file watches devices: where models, inputs and losses lie, and what is copied between devices in each step."""

from collections.abc import Iterable
from dataclasses import replace
from types import FrameType
from typing import Any

import torch
from torch import nn

from torchmagic.probes.cast import Cast
from torchmagic.probes.members import Model
from torchmagic.probes.module_parts import buffers_of, parameters_of
from torchmagic.probes.pacing import next_look
from torchmagic.probes.sites import place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.records.activation import TensorFacts
from torchmagic.records.device import Cargo, DeviceRecord, DeviceTotal, TransferRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.glance import facts_of, tensors_in


class Devices:
    """Records a ``DeviceRecord`` of each model, and a ``TransferRecord`` of what lies elsewhere than its model.

    Within a step that is looked at, an input of another device or dtype than before is looked at as well.
    """

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._recorder: Recorder | None = None
        self._inputs: dict[int, tuple[torch.dtype | None, torch.device | None]] = {}
        self._told: dict[str, DeviceRecord] = {}
        self._batch: tuple[torch.device, bool | None, int] | None = None
        self._seen: set[tuple[Cargo, str]] = set()
        self._looked: set[int] = set()
        self._taps: Taps | None = None

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for batches, models and backwards."""
        self._recorder, self._taps = recorder, taps
        taps.on("batch", self._take_batch)
        taps.on("root_begin", self._run_model)
        taps.on("backward_begin", self._go_back)

    def flush(self, step: int) -> None:
        """Rest until the next look."""
        self._seen.clear()
        self._looked.clear()
        self._batch = None
        if self._taps is not None:
            self._taps.rest(self, until=next_look(step))

    def detach(self) -> None:
        """Let go of everything."""
        self._inputs.clear()
        self._batch = None

    def _take_batch(self, loader: Any, batch: Any, nanoseconds: int) -> None:
        tensors = tensors_in(batch)
        if tensors:
            self._batch = tensors[0].device, _pinned(tensors[0]), _num_bytes(tensors)

    def _run_model(self, module: nn.Module, args: Any, kwargs: Any, frame: FrameType) -> None:
        first = args[0] if args else None
        tensor = first if type(first) is torch.Tensor else None  # isinstance costs as much as all the rest
        key = id(module)
        known = self._inputs.get(key)
        same = known is not None and (tensor is None or (tensor.dtype is known[0] and tensor.device == known[1]))
        if same and key in self._looked:
            return
        self._looked.add(key)
        self._inputs[key] = (None, None) if tensor is None else (tensor.dtype, tensor.device)
        model = self._cast.model_of(module)
        root = model.ref() if model is not None else None
        if model is not None and root is not None and self._recorder is not None:
            tensors = tensors_in((*args, *kwargs.values()))
            self._tell_model(model, root, tensors)
            self._tell_inputs(model, tensors, frame)

    def _tell_model(self, model: Model, root: nn.Module, tensors: list[torch.Tensor]) -> None:
        told = self._told.get(model.name)
        record = DeviceRecord(
            model=model.name,
            step=self._recorder.step if self._recorder is not None else 0,
            parameters=_totals(parameters_of(root)),
            buffers=_totals(buffers_of(root)),
            inputs=facts_of(tensors),
        )
        if self._recorder is not None and (told is None or _placement(told) != _placement(record)):
            self._recorder.add(record)
            self._told[model.name] = record

    def _tell_inputs(self, model: Model, tensors: list[torch.Tensor], frame: FrameType) -> None:
        homes = self._homes(model)
        if not homes:
            return
        sized = [tensor for tensor in tensors if not nn.parameter.is_lazy(tensor) and tensor.dim()]
        strangers = [tensor for tensor in sized if str(tensor.device) not in homes]
        if strangers:
            source = strangers[0]
            self._tell(
                Cargo.INPUT,
                model,
                frame,
                source=source.device,
                target=homes[0],
                num_bytes=_num_bytes(strangers),
                pinned=_pinned(source),
            )
        if self._batch is not None and str(self._batch[0]) not in homes:
            device, pinned, num_bytes = self._batch
            self._tell(Cargo.BATCH, model, frame, source=device, target=homes[0], num_bytes=num_bytes, pinned=pinned)

    def _go_back(self, tensors: Any, frame: FrameType) -> None:
        model = self._cast.current
        if model is None:
            return
        losses, homes = tensors_in(tensors), self._homes(model)
        if homes and losses and str(losses[0].device) not in homes:
            self._tell(
                Cargo.LOSS,
                model,
                frame,
                source=homes[0],
                target=losses[0].device,
                num_bytes=_num_bytes(losses),
                pinned=None,
            )

    def _homes(self, model: Model) -> tuple[str, ...]:
        """Return the devices on which a model's parameters lie."""
        told = self._told.get(model.name)
        return tuple(total.device for total in told.parameters) if told is not None else ()

    def _tell(
        self,
        what: Cargo,
        model: Model,
        frame: FrameType,
        *,
        source: object,
        target: object,
        num_bytes: int,
        pinned: bool | None,
    ) -> None:
        if self._recorder is None or (what, model.name) in self._seen:
            return
        self._seen.add((what, model.name))
        self._recorder.add(
            TransferRecord(
                what=what,
                model=model.name,
                step=self._recorder.step,
                source=str(source),
                target=str(target),
                num_bytes=num_bytes,
                pinned=pinned,
                place=place_of(site_of(frame)),
            )
        )


def _totals(tensors: Iterable[torch.Tensor]) -> tuple[DeviceTotal, ...]:
    sums: dict[str, list[int]] = {}
    for tensor in tensors:
        entry = sums.setdefault(str(tensor.device), [0, 0])
        entry[0] += 1
        entry[1] += _num_bytes([tensor])
    found = (DeviceTotal(device=name, num_tensors=n, num_bytes=size) for name, (n, size) in sums.items())
    return tuple(sorted(found, key=lambda total: -total.num_bytes))


def _num_bytes(tensors: Iterable[torch.Tensor]) -> int:
    try:
        return sum(
            int(tensor.numel()) * tensor.element_size() for tensor in tensors if not nn.parameter.is_lazy(tensor)
        )
    except RuntimeError:  # a ragged tensor does not know
        return 0


def _pinned(tensor: torch.Tensor) -> bool | None:
    """Whether host memory is page-locked; None where no CUDA device is in use, or the tensor is not on the host."""
    if tensor.device.type != "cpu" or not torch.cuda.is_initialized():  # type: ignore[no-untyped-call] # torch
        return None
    return bool(tensor.is_pinned())


def _placement(record: DeviceRecord) -> DeviceRecord:
    """Return a record without what changes from batch to batch, for comparison."""
    inputs = tuple(TensorFacts(shape=(), dtype=facts.dtype, device=facts.device) for facts in record.inputs)
    return replace(record, step=0, inputs=inputs)
