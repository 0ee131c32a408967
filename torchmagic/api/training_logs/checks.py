"""This file is the look at a tensor or at a model's gradients off the event loop, which goes on meanwhile."""

import asyncio
import math
from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any

import torch

from torchmagic.models.gradient_checks import GradientStatistics, gradients_of, total_norm
from torchmagic.models.parameters import parameters_of
from torchmagic.models.tree import is_lazy
from torchmagic.records.tensor import Statistics, TensorRecord
from torchmagic.tensors.layout import metadata
from torchmagic.tensors.readable import readable_statistics
from torchmagic.tensors.sources import as_tensor

MB = 2**20
# Up to so many elements a tensor is copied first (some 10 us), so that what follows cannot change what is looked at.
FEW_ELEMENTS = 1 << 15
# Names of parameters that are told; the counts are of all.
MOST_NAMES = 100

Versions = list[tuple[int, int | None]]


async def tensor_facts(tensor: Any, name: str) -> dict[str, Any]:
    """Return what a tensor is and what its values are like, measured in a thread; the tensor is not held afterwards.

    Args:
        tensor: A tensor of any kind, a parameter, a NumPy array or a NumPy number.
        name: What to call it.

    Raises:
        TypeError: If it is something else; one line.
        ValueError: If it is a parameter that has no values yet; one line.
    """
    source, notes = as_tensor(tensor)
    if is_lazy(source):
        raise ValueError(
            f"{name or 'this parameter'} has no values before the model's first input; check it after that"
        )
    version = _version(source)
    record = metadata(source, name=name, kind=type(tensor).__name__)
    plain = source.detach()
    is_copied = plain.layout is torch.strided and not plain.is_nested and plain.numel() <= FEW_ELEMENTS
    given = plain.clone() if is_copied else plain
    statistics, more = await asyncio.to_thread(_read, given, _streams([given]))
    has_changed = not is_copied and _version(source) != version
    return _facts(record, statistics) | {"changed_during_check": has_changed, "notes": [*notes, *more]}


async def gradient_facts(model: Any) -> dict[str, Any]:
    """Return what the gradients of a model are like, measured in a thread.

    Args:
        model: A module, a wrapper around one, or an object that holds some, such as a pipeline.

    Raises:
        TypeError: If there is no model; one line.
    """
    parameters = [each for each in parameters_of(model).values() if each.requires_grad]
    gradients = [each.grad for each in parameters if each.is_leaf and each.grad is not None]
    before = _versions(gradients)
    streams = _streams(gradients)
    num_parameters, num_gradients = len(parameters), len(gradients)
    del gradients
    found = await asyncio.to_thread(_measured, model, streams)
    after = _versions(each.grad for each in parameters if each.is_leaf and each.grad is not None)
    return {
        "total_params": num_parameters,
        "params_with_grad": num_gradients,
        "params_without_grad": num_parameters - num_gradients,
        **_summary(found),
        "changed_during_check": before != after,
    }


def _streams(tensors: Iterable[torch.Tensor]) -> list[torch.cuda.Stream]:
    """Return the streams in which the caller's kernels wait: a thread that works in them works after those."""
    devices = {each.device for each in tensors if each.is_cuda}
    return [torch.cuda.current_stream(device) for device in devices]


def _read(values: torch.Tensor, streams: Iterable[torch.cuda.Stream]) -> tuple[Statistics | None, tuple[str, ...]]:
    with _in_streams(streams):
        return readable_statistics(values)


def _in_streams(streams: Iterable[torch.cuda.Stream]) -> ExitStack:
    stack = ExitStack()
    for stream in streams:
        stack.enter_context(torch.cuda.stream(stream))
    return stack


def _facts(record: TensorRecord, found: Statistics | None) -> dict[str, Any]:
    found = found or Statistics(num_values=0)
    num_inf = found.num_posinf + found.num_neginf
    return {
        "name": record.name,
        "shape": record.shape,
        "dtype": record.dtype,
        "device": record.device,
        "requires_grad": record.requires_grad,
        "num_elements": record.num_elements,
        "memory_usage": record.num_bytes / MB,
        "has_nan": found.num_nan > 0,
        "has_inf": num_inf > 0,
        "num_nan": found.num_nan,
        "num_inf": num_inf,
        "num_zero": found.num_zero,
        "mean_value": found.mean,
        "std_value": 0.0 if found.num_finite == 1 else found.std,
        "min_value": found.min,
        "max_value": found.max,
        "norm": found.l2,
    }


def _measured(model: Any, streams: Iterable[torch.cuda.Stream]) -> dict[str, GradientStatistics]:
    with _in_streams(streams):
        return gradients_of(model)


def _summary(found: dict[str, GradientStatistics]) -> dict[str, Any]:
    with_nan = [name for name, each in found.items() if each.nans]
    with_inf = [name for name, each in found.items() if each.infs]
    largest = max(found.values(), key=_size, default=None)
    return {
        "params_with_nan_grad": len(with_nan),
        "params_with_inf_grad": len(with_inf),
        "params_with_zero_grad": sum(each.elements > 0 and each.zeros == each.elements for each in found.values()),
        "nan_params": with_nan[:MOST_NAMES],
        "inf_params": with_inf[:MOST_NAMES],
        "grad_norm": total_norm(found),
        "max_grad_norm": largest.norm if largest else 0.0,
        "max_grad_param": largest.parameter if largest else "",
    }


def _size(statistics: GradientStatistics) -> float:
    return math.inf if math.isnan(statistics.norm) else statistics.norm


def _versions(gradients: Iterable[torch.Tensor]) -> Versions:
    """Return what changes when a gradient is written to or another one takes its place."""
    return [(id(each), _version(each)) for each in gradients]


def _version(tensor: torch.Tensor) -> int | None:
    """Return how often a tensor was written to; None for one of inference mode, which does not count."""
    return None if tensor.is_inference() else tensor._version  # noqa: SLF001 - torch has no public name for it
