"""This file finds inputs that repeat: the same values in step after step, each time in new tensors."""

import weakref
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch

from torchmagic.probes.members import Model
from torchmagic.probes.reseeding import reseeding
from torchmagic.probes.sites import Site, place_of
from torchmagic.probes.variables import variables
from torchmagic.records.feeding import RepeatedInputRecord
from torchmagic.tensors.batch import Print, fingerprint, has_values

# Steps in a row from which on it is told; a rule may ask for more.
FEWEST = 3
# What a model is called with beside tensors that is compared too.
_PLAIN = (int, float, str)

Whole = tuple[tuple[Print, ...], tuple[Any, ...]]


class Call(NamedTuple):
    """A call of a model in training: which one of them, at which step, and what it was given, from where to where."""

    number: int
    step: int
    tensors: Sequence[torch.Tensor]
    given: tuple[Any, ...]
    loader: str
    site: Site | None


class Repeats:
    """The training calls of one model: what the last one that was looked at was given, and how often it came again.

    Only calls one right after the other are compared. The very same tensor object in another step ends a streak: that
    is training on all the data at once.
    """

    def __init__(self) -> None:
        self._seen: Whole | None = None
        self._ref: weakref.ref[torch.Tensor] | None = None
        self._call = self._step = -1
        self._streak = self._began = 0
        self._longest = 0
        self._evaluated = 0
        self._told: tuple[int, tuple[int, ...], str, Site | None, int] | None = None

    def look(self, call: Call) -> float | None:
        """Compare a call with the one looked at before.

        Returns:
            1 for the same values in another tensor, 0.5 for the very same tensor, 0 for other values; None where there
            is nothing to compare with.
        """
        first, step = call.tensors[0], call.step
        found: Whole = (
            tuple(fingerprint(each) for each in call.tensors),
            tuple(each for each in call.given if issubclass(type(each), _PLAIN)),
        )
        before, ref = self._seen, self._ref
        same = ref is not None and ref() is first
        differs = found != before or not all(each.finite for each in found[0])  # what broke stays NaN
        result = None if before is None else 0.0 if differs else 0.5 if same else 1.0
        adjacent = call.number == self._call + 1
        if result != 1.0 or not adjacent:
            if result != 0.5 or step != self._step:  # noqa: PLR2004 - the same tensor twice in one step ends nothing
                self._streak, self._began = 0, step
        elif step != self._step:
            self._streak += 1
            if self._streak > self._longest:
                self._longest = self._streak
                known = _rows_of_base(first)
                self._told = self._began, tuple(first.shape), call.loader, call.site, known
        self._seen, self._ref, self._call, self._step = found, weakref.ref(first), call.number, step
        return result

    def evaluate(self, tensors: Sequence[torch.Tensor]) -> None:
        """Take in what the model was evaluated on."""
        first = tensors[0]
        if first.dim() and self._seen is not None and fingerprint(first) != self._seen[0][0]:
            self._evaluated = max(self._evaluated, first.shape[0])

    def record(self, model: Model, namespace: Mapping[str, Any]) -> RepeatedInputRecord | None:
        """Return what was found, or None where nothing repeated."""
        if self._told is None or self._longest + 1 < FEWEST:
            return None
        step, shape, loader, site, known = self._told
        return RepeatedInputRecord(
            model=model.name,
            step=step,
            num_steps=self._longest + 1,
            num_rows=shape[0] if shape else 1,
            num_known=max(known, _most_rows(namespace, shape[1:], model)),
            loader=loader,
            place=place_of(site),
            num_evaluated=self._evaluated,
            reseeded=place_of(reseeding(site, model.name, namespace)),
        )


def values_in(fields: Sequence[tuple[str, torch.Tensor]]) -> list[torch.Tensor]:
    """Return the tensors that can be compared."""
    return [tensor for _, tensor in fields if has_values(tensor)]


def _rows_of_base(tensor: torch.Tensor) -> int:
    """Return the rows of the tensor that this one was cut from; 0 where it was cut otherwise than by rows."""
    base = tensor._base
    return int(base.shape[0]) if base is not None and base.dim() and base.shape[1:] == tensor.shape[1:] else 0


def _most_rows(namespace: Mapping[str, Any], columns: tuple[int, ...], model: Model) -> int:
    """Return the rows of the user's largest tensor or array whose rows have a shape; weights and copies are no data."""
    weights = {weight.shape for weight in (ref() for ref in model.parameters.values()) if weight is not None}
    shapes = (getattr(value, "shape", None) for _, value in variables(namespace) if _is_data(value))
    rows = (int(shape[0]) for shape in shapes if shape and tuple(shape[1:]) == columns and shape not in weights)
    return max(rows, default=0)


def _is_data(value: Any) -> bool:
    return type(value) is torch.Tensor or (type(value).__module__ == "numpy" and type(value).__name__ == "ndarray")
