"""This file is ``detect_model_anomalies``: what is suspicious about the outputs that a model gives for a batch."""

import math
from collections.abc import Iterator
from typing import Any

import torch

from torchmagic.guard.batch_fields import fields_of
from torchmagic.models.calls import batch_call
from torchmagic.models.forward import ordinary_tensors
from torchmagic.models.running import watched_twin
from torchmagic.models.sources import as_source
from torchmagic.models.tree import tree_of
from torchmagic.records.tensor import Statistics
from torchmagic.tensors.measure import measure
from torchmagic.tensors.reduce import UNREADABLE_ERRORS
from torchmagic.tensors.sources import stored_values

PROBABILITIES = (0.0, 1.0)
UNIFORM = 1e-6


def detect_model_anomalies(
    model: Any,
    data: Any,
    *,
    expected_range: tuple[float, float] | None = PROBABILITIES,
    uniform_below: float | None = UNIFORM,
    training: bool | None = None,
) -> list[str]:
    """Tell what is suspicious about a model's outputs: NaN, infinity, a wrong range, all the same.

    A twin of the model is run: modes, buffers, weights, gradients, hooks, random number streams and the data stay as
    they are, bit for bit.

    Args:
        model: A module, compiled or not.
        data: A batch as the model takes it: a tensor, a tuple or list by position, a dictionary by name, or a loader,
            of which one batch is used.
        expected_range: Least and greatest output; the default is that of probabilities. None for any.
        uniform_below: Standard deviation over all values of an output below which its predictions count as uniform;
            None for never.
        training: Whether the twin is in training mode; None for the model's own modes.

    Returns:
        A sentence for each anomaly: ``Model output contains NaN values``, ``Model output contains infinite values``,
        ``Model output outside expected range``, ``Model predictions are uniform``. Where a model gives several tensors
        each sentence names the one: ``Model output logits contains NaN values``. Empty if there is none.

    Raises:
        TypeError: If there is no model; one line.
        ValueError: If the range makes no sense, or the data holds no batch; one line.
        Exception: What the model raises.

    Example:
        >>> detect_model_anomalies(torch.nn.Sigmoid(), torch.tensor([[-1.0, 2.0], [0.5, float("nan")]]))
        ['Model output contains NaN values']
    """
    if expected_range is not None and not expected_range[0] <= expected_range[1]:
        raise ValueError(f"expected_range is (least, greatest), {tuple(expected_range)!r} came")
    found: list[str] = []
    for place, tensor in fields_of(_output(model, data, training)):
        found += _anomalies(tensor, place, expected_range, uniform_below)
    return found


def _output(model: Any, data: Any, training: bool | None) -> Any:  # noqa: FBT001 - None is a third answer
    source = as_source(model)
    if source.model is None:
        raise TypeError(f"one model was wanted, {len(source.components)} came; name the one that the data is for")
    with ordinary_tensors():
        return _twin_output(source.model, data, training)


def _twin_output(model: torch.nn.Module, data: Any, training: bool | None) -> Any:  # noqa: FBT001 - as above
    results: list[Any] = []
    call = batch_call(model, data)
    _, seen = watched_twin(model, tree_of(model), call, training=training, results=results)
    if seen.error is not None:
        raise seen.error
    return results[-1]


def _anomalies(
    tensor: torch.Tensor, place: str, expected: tuple[float, float] | None, uniform_below: float | None
) -> Iterator[str]:
    statistics = _statistics(tensor)
    if statistics is None:
        return
    which = f" {place}" if place else ""
    num_inf = statistics.num_posinf + statistics.num_neginf
    if statistics.num_nan:
        yield f"Model output{which} contains NaN values"
    if num_inf:
        yield f"Model output{which} contains infinite values"
    if expected is not None and _is_outside(statistics, expected):
        yield f"Model output{which} outside expected range"
    several = statistics.num_finite > 1 and statistics.num_finite == statistics.num_values
    if uniform_below is not None and several and (statistics.std or 0.0) < uniform_below:
        yield f"Model predictions{which} are uniform"


def _is_outside(statistics: Statistics, expected: tuple[float, float]) -> bool:
    low, high = expected
    if (statistics.num_posinf and high < math.inf) or (statistics.num_neginf and low > -math.inf):
        return True
    return (
        statistics.min is not None
        and statistics.max is not None
        and not low <= statistics.min <= statistics.max <= high
    )


def _statistics(tensor: torch.Tensor) -> Statistics | None:
    if not (tensor.is_floating_point() or tensor.is_complex()):
        return None
    try:
        values = stored_values(tensor).values
        return None if values is None or not values.numel() else measure(values, spread=False)[0]
    except UNREADABLE_ERRORS:
        return None
