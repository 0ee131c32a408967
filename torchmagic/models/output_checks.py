"""This file is the check of what comes out of a model: each tensor of it, by name, on a copy of the model."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from torchmagic.models.calls import Call
from torchmagic.models.forward import ordinary_tensors
from torchmagic.models.running import told, watched_twin
from torchmagic.models.shapes import tensors_in
from torchmagic.models.tree import Tree
from torchmagic.tensors.batch import fields_in
from torchmagic.tensors.chunks import as_numbers
from torchmagic.tensors.finite import is_finite
from torchmagic.tensors.reduce import UNREADABLE_ERRORS, values_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """What came out of a forward, in words.

    Args:
        error: What the model raised; empty where it did not.
        problems: Tensors with NaN or infinity.
        remarks: Tensors with minus infinity and nothing worse; the mode it was run in, where that is not its own.
    """

    error: str = ""
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def outputs_of(model: nn.Module, tree: Tree, call: Call) -> Outputs:
    """Run a twin of a model and look at all values that come out.

    Args:
        model: The model.
        tree: The model taken apart.
        call: How to call it.
    """
    with ordinary_tensors():
        results: list[Any] = []
        _, seen = watched_twin(model, tree, call, training=None, results=results)
        remarks: tuple[str, ...] = ()
        if seen.error is not None and any(module.training for module in model.modules()):
            # Batch norm on a batch of one, for instance, raises in training mode only.
            _, again = watched_twin(model, tree, call, training=False, results=results)
            if again.error is None:
                remarks = (f"in training mode its forward raises {told(seen.error)}; outputs are of evaluation mode",)
                seen = again
        if seen.error is not None:
            return Outputs(error=told(seen.error))
        judged = list(_judged(results[-1]))
    return Outputs(
        problems=tuple(text for text, is_wrong in judged if is_wrong),
        remarks=remarks + tuple(text for text, is_wrong in judged if not is_wrong),
    )


def _judged(output: Any) -> Iterator[tuple[str, bool]]:
    """Yield what is not finite: the words for it, and whether it is wrong."""
    for name, tensor in _named(output):
        if is_finite(tensor):
            continue
        counts = _counts(tensor)
        words = ", ".join(f"{number:,} {kind}" for kind, number in counts.items() if number)
        where = f"output {name}" if name else "output"
        yield f"{where}: {words} of {tensor.numel():,} values", bool(counts["NaN"] or counts["infinite"])


def _named(output: Any) -> list[tuple[str, torch.Tensor]]:
    named = list(fields_in(output))
    return named or [(str(place), tensor) for place, tensor in enumerate(tensors_in(output))]


def _counts(tensor: torch.Tensor) -> dict[str, int]:
    try:
        values = as_numbers(values_of(tensor))
        below = int(torch.isneginf(values).sum())
        nans = int(torch.isnan(values).sum())
        return {"NaN": nans, "infinite": int(torch.isposinf(values).sum()), "minus infinity": below}
    except UNREADABLE_ERRORS:  # is_finite could sum it, and found it not finite
        return {"NaN": 0, "infinite": tensor.numel(), "minus infinity": 0}
