"""This file is ``validate_model_input``: whether a batch may be let into a model, and what speaks against it."""

from collections.abc import Mapping
from typing import Any

import torch

from torchmagic.guard.batch_fields import fields_of, items_of
from torchmagic.guard.input_checks import Sizes, failures_of
from torchmagic.guard.input_spec import Dtypes, InputSpec, Shape

LARGEST = 1000.0
Specs = InputSpec | Mapping[str, Any] | tuple[Any, ...] | list[Any] | None
_MOST_FAILURES = 20


def validate_model_input(
    data: Any,
    *,
    dtype: Dtypes | None = None,
    shape: Shape | None = (None, None),
    minimum: float | None = -LARGEST,
    maximum: float | None = LARGEST,
    finite: bool = True,
    empty: bool = False,
    device: str | torch.device | None = None,
    spec: Specs = None,
) -> bool:
    """Check a tensor, or every tensor of a nested batch, before a model sees it.

    Without settings the values have to be finite and of a magnitude of at most 1000, in 2 dimensions. Each value is
    read once; what is checked is not changed.

    Args:
        data: A tensor or NumPy array, or dictionaries, tuples and lists of such.
        dtype: The dtype, or several of which it has one; None for any.
        shape: One entry a dimension: a size; None or -1 for any; a name for a size that is the same wherever the name
            stands, such as ``("batch", 3, 224, 224)``; once ``...`` for any number of dimensions. None for any shape.
        minimum: Least value; None for any.
        maximum: Greatest value; None for any.
        finite: Whether NaN and infinity are refused.
        empty: Whether a tensor without elements is let in.
        device: The device, such as ``"cpu"``; None for any.
        spec: In place of all other settings: an ``InputSpec`` for every tensor, or a dictionary, tuple or list built
            as the data is, with one for each that is to be checked.

    Returns:
        True.

    Raises:
        ValueError: If something is not as it has to be; one line that names every check that failed.
        TypeError: If there is no tensor in it; one line.

    Example:
        >>> validate_model_input(torch.rand(4, 8))
        True
        >>> validate_model_input(torch.full((3, 2), 5000.0), maximum=None)
        True
    """
    if spec is None:
        spec = InputSpec(
            dtype=dtype, shape=shape, minimum=minimum, maximum=maximum, finite=finite, empty=empty, device=device
        )
    return _check_batch(data, spec)


def _check_batch(data: Any, spec: Specs) -> bool:
    """Check the tensors of a batch against one spec for all, or one for each; see ``validate_model_input``."""
    failures: list[str] = []
    _check(data, spec, "", {}, failures)
    if not failures:
        return True
    if len(failures) > _MOST_FAILURES:
        failures = [*failures[:_MOST_FAILURES], f"{len(failures) - _MOST_FAILURES} more"]
    raise ValueError("; ".join(failures))


def _check(data: Any, spec: Specs, place: str, sizes: Sizes, failures: list[str]) -> None:
    label = f"Input {place}".strip()
    if spec is None:
        return
    if isinstance(spec, InputSpec):
        fields = list(fields_of(data, place))
        if not fields:
            came = type(data).__name__
            raise TypeError(f"{label}: a tensor, or a dict, tuple or list that holds some, was wanted, {came} came")
        for name, tensor in fields:
            failures.extend(failures_of(tensor, f"Input {name}".strip(), spec, sizes))
        return
    if not isinstance(spec, Mapping | tuple | list):
        raise TypeError(f"a spec is an InputSpec, or a dict, tuple or list of them, {type(spec).__name__} came")
    there = dict(items_of(data))
    for name, each in items_of(spec):
        if name in there:
            _check(there[name], each, f"{place}.{name}" if place else name, sizes, failures)
        elif each is not None:
            failures.append(f"{label} has no {name} ({_held(there)} came)")


def _held(there: Mapping[str, Any]) -> str:
    return ", ".join(list(there)[:_MOST_FAILURES]) or "nothing by name or number"
