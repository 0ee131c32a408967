"""This file is the gradients of layers: how large they are on average, layer by layer, at each close look."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torchmagic.records.activation import ActivationRecord
from torchmagic.records.model import ParameterRecord
from torchmagic.session.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerGradients:
    """The layers of one model, and the root mean square of their gradients.

    Args:
        model: Name of the model.
        layers: Paths of modules with parameters of their own that got a gradient, in the order in which they run.
        looks: Of each look the step, and a value a layer; NaN where it had no gradient then.
    """

    model: str
    layers: tuple[str, ...]
    looks: Sequence[tuple[int, tuple[float, ...]]]


def layer_gradients(run: Run) -> list[LayerGradients]:
    """Return the gradients of each model's layers."""
    sizes: dict[str, dict[str, tuple[str, int]]] = {}
    for record in run.of(ParameterRecord):
        sizes.setdefault(record.model, {})[record.name] = (record.module, math.prod(record.shape))
    looks: dict[int, dict[str, float]] = {}
    for frame in run.frames:
        if frame.metric == "grad_norm" and frame.subjects != ("",):
            for step, row in frame.rows():
                looks.setdefault(step, {}).update(zip(frame.subjects, row, strict=True))
    return [found for model, owned in sizes.items() if (found := _of_model(run, model, owned, looks)) is not None]


def _of_model(
    run: Run, model: str, owned: Mapping[str, tuple[str, int]], looks: Mapping[int, Mapping[str, float]]
) -> LayerGradients | None:
    rows = {step: _by_layer(owned, norms) for step, norms in sorted(looks.items())}
    touched = {layer for row in rows.values() for layer in row}
    ran = [record.module for record in run.of(ActivationRecord)]
    layers = tuple(
        layer for layer in dict.fromkeys([*ran, *(module for module, _ in owned.values())]) if layer in touched
    )
    if not layers:
        return None
    found = [(step, tuple(row.get(layer, math.nan) for layer in layers)) for step, row in rows.items() if row]
    return LayerGradients(model=model, layers=layers, looks=found)


def _by_layer(owned: Mapping[str, tuple[str, int]], norms: Mapping[str, float]) -> dict[str, float]:
    """Return the root mean square over all values of a layer's gradients at one look."""
    squares: dict[str, float] = {}
    counts: dict[str, int] = {}
    for name, (module, count) in owned.items():
        norm = norms.get(name, math.nan)
        if count and not math.isnan(norm):
            squares[module] = squares.get(module, 0.0) + norm * norm
            counts[module] = counts.get(module, 0) + count
    return {module: math.sqrt(total / counts[module]) for module, total in squares.items()}
