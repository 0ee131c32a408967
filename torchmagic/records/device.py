"""This file is where tensors lie: the devices of a model and its inputs, and what goes from one device to another."""

from dataclasses import dataclass
from enum import StrEnum

from torchmagic.records.activation import TensorFacts
from torchmagic.records.place import Place


class Cargo(StrEnum):
    """What was seen on another device than the model."""

    BATCH = "batch"  # the loader gives it there, and it has to be brought to the model
    INPUT = "input"  # the model is given it there, and brings it over itself
    LOSS = "loss"  # the loss is computed there, from what the model gave here


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceTotal:
    """How many tensors and bytes lie on one device."""

    device: str
    num_tensors: int
    num_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceRecord:
    """Where a model's parameters and buffers lie, the device with most bytes first, and the inputs it was given.

    Recorded when a model first runs, and again where, at a later look, something lies elsewhere.
    """

    model: str
    step: int
    parameters: tuple[DeviceTotal, ...]
    buffers: tuple[DeviceTotal, ...]
    inputs: tuple[TensorFacts, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferRecord:
    """Something that lies on one device while it is needed on another, so that it is copied in each step.

    Recorded at each look at which it is seen: the first steps, and steps that are powers of two. ``pinned`` tells
    whether host memory is page-locked; None where that does not matter.
    """

    what: Cargo
    model: str
    step: int
    source: str
    target: str
    num_bytes: int
    pinned: bool | None
    place: Place | None
