"""This file is the cast of a run: the models, parameters, optimizers and loaders that took part."""

from dataclasses import dataclass

from torchmagic.records.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRecord:
    """A root module that ran: its name in the notebook, class, and size (bytes of parameters and buffers)."""

    name: str
    class_name: str
    num_parameters: int
    num_trainable: int
    num_bytes: int
    compiled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterRecord:
    """A parameter of a model: full name, shape, dtype, device, whether it requires a gradient."""

    name: str
    model: str
    module: str
    shape: tuple[int, ...]
    dtype: str
    device: str
    trainable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RectifierRecord:
    """A rectifier whose units are watched: its path, and, when it is a call and no module, the line of the call."""

    module: str
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizerRecord:
    """An optimizer that stepped: its name, class, learning rates per group and the parameters it owns."""

    name: str
    class_name: str
    lr: tuple[float, ...]
    parameters: tuple[str, ...]
    place: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoaderRecord:
    """A DataLoader that was iterated: batch size, workers, sampler class and length (None when unknown)."""

    name: str
    batch_size: int | None
    num_workers: int
    sampler: str
    num_batches: int | None
