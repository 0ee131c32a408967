"""This file turns what users log into values that JSON can hold: bounded, and without holding a tensor of theirs."""

import math
import os
from collections import deque
from collections.abc import Iterable, Mapping, ValuesView
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import singledispatch
from itertools import islice
from typing import Any
from uuid import UUID

import numpy as np
import torch

from torchmagic.api.training_logs.later import Later
from torchmagic.exports.names import encodable
from torchmagic.tensors.batch import has_values

# Of one event; some 5 ms of work at most. Eight numbers of each of 300 parameters are half as many.
MOST_VALUES = 5_000
DEEPEST = 8
LONGEST_TEXT = 10_000
# Up to so many elements a tensor is told by its values, beyond by shape, dtype and device.
FEW_ELEMENTS = 32
# A value counts 1 towards what waits to be written, a text one more for so many characters.
CHARACTERS = 64
# Whole numbers beyond this are told as text: readers of JSON have doubles, and Python refuses to print huge ones.
MOST_BITS = 64


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: NaN and infinities as ``"NaN"``, ``"Infinity"`` and ``"-Infinity"``.

    A tensor of one value becomes that value, a small one its values; others are told by shape, dtype and device.
    What has no counterpart in JSON is named by its type. Nothing that comes back is the user's own object.
    """
    return Walk().of(value)


class Walk:
    """Turns values into plain ones, up to a bound on how many.

    Attributes:
        weight: About how much memory what was made takes, in values.
    """

    def __init__(self, most: int = MOST_VALUES) -> None:
        self._left = most
        self.weight = 0

    def of(self, value: Any, depth: int = 0) -> Any:
        """Return the plain value; what raises when it is looked at is told by its type. See ``plain``."""
        self.weight += 1
        try:
            return _plain(value, self, depth)
        except Exception as error:  # noqa: BLE001 - the wall: a field that cannot be told does not end a training
            return f"<{type(value).__qualname__}: {type(error).__name__}>"

    def text(self, text: str) -> str:
        """Return text that can be written, and not too much of it."""
        if type(text) is str and len(text) <= CHARACTERS and text.isascii():
            return text
        short = encodable(str.__str__(text[: LONGEST_TEXT + 1]))
        self.weight += len(short) // CHARACTERS
        return short if len(text) <= LONGEST_TEXT else f"{short[:LONGEST_TEXT]}…"

    def mapping(self, items: Iterable[tuple[Any, Any]], depth: int) -> dict[str, Any]:
        """Return named values."""
        found: dict[str, Any] = {}
        # All are taken at once, since another thread may go on changing what they are taken from.
        for key, value in list(islice(items, self._left + 1)):
            if self._left <= 0:
                found["…"] = "the rest is left out"
                break
            self._left -= 1
            found[self.text(_key(key))] = self.of(value, depth + 1)
        return found

    def sequence(self, values: Iterable[Any], depth: int) -> list[Any]:
        """Return values in order."""
        found: list[Any] = []
        for value in list(islice(values, self._left + 1)):
            if self._left <= 0:
                found.append("…")
                break
            self._left -= 1
            found.append(self.of(value, depth + 1))
        return found

    def few(self, values: Any, count: int, facts: dict[str, Any], depth: int) -> Any:
        """Return a single value as itself, several with the facts about them."""
        while count == 1 and isinstance(values, list):
            values = values[0]
        self.weight += count
        return _plain(values, self, depth) if count == 1 else {**facts, "values": _numbers(values)}


@singledispatch
def _plain(value: Any, walk: Walk, depth: int) -> Any:
    if is_dataclass(value) and not isinstance(value, type) and depth < DEEPEST:
        return walk.mapping(((each.name, getattr(value, each.name)) for each in fields(value)), depth)
    return f"<{type(value).__qualname__}>"


@_plain.register(type(None))
@_plain.register(bool)
@_plain.register(Later)
def _as_it_is(value: Any, walk: Walk, depth: int) -> Any:  # noqa: ARG001 - all take the same
    return value


@_plain.register(int)
def _whole(value: int, walk: Walk, depth: int) -> int | str:  # noqa: ARG001
    return int(value) if value.bit_length() <= MOST_BITS else walk.text(f"{value:#x}")


@_plain.register(float)
def _float(value: float, walk: Walk | None = None, depth: int = 0) -> float | str:  # noqa: ARG001
    if math.isfinite(value):
        return float(value)
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


@_plain.register(np.generic)
def _numpy_number(value: Any, walk: Walk, depth: int) -> Any:
    if isinstance(value, np.floating):
        return _float(float(value))
    return walk.of(value.item(), depth) if isinstance(value, np.bool_ | np.integer) else walk.text(str(value))


@_plain.register(str)
def _text(value: str, walk: Walk, depth: int) -> str:  # noqa: ARG001
    return walk.text(value)


@_plain.register(Enum)
def _member(value: Enum, walk: Walk, depth: int) -> Any:
    return walk.of(value.value, depth)


@_plain.register(UUID)
@_plain.register(Decimal)
@_plain.register(Fraction)
@_plain.register(complex)
@_plain.register(date)
@_plain.register(time)
@_plain.register(torch.dtype)
@_plain.register(torch.device)
def _said(value: Any, walk: Walk, depth: int) -> str:  # noqa: ARG001
    return walk.text(str(value))


@_plain.register(timedelta)
def _seconds(value: timedelta, walk: Walk, depth: int) -> float:  # noqa: ARG001
    return value.total_seconds()


@_plain.register(os.PathLike)
def _path(value: "os.PathLike[Any]", walk: Walk, depth: int) -> str:  # noqa: ARG001
    return walk.text(os.fsdecode(value))


@_plain.register(bytes)
@_plain.register(bytearray)
def _bytes(value: bytes, walk: Walk, depth: int) -> str:  # noqa: ARG001
    return f"<{len(value):,} bytes>"


@_plain.register(BaseException)
def _error(value: BaseException, walk: Walk, depth: int) -> dict[str, str]:  # noqa: ARG001
    return {"type": type(value).__qualname__, "message": walk.text(str(value))}


@_plain.register(Mapping)
def _mapping(value: Mapping[Any, Any], walk: Walk, depth: int) -> Any:
    return walk.mapping(value.items(), depth) if depth < DEEPEST else f"<{type(value).__qualname__}>"


@_plain.register(list)
@_plain.register(tuple)
@_plain.register(deque)
@_plain.register(range)
@_plain.register(AbstractSet)
@_plain.register(ValuesView)
def _sequence(value: Iterable[Any], walk: Walk, depth: int) -> Any:
    return walk.sequence(value, depth) if depth < DEEPEST else f"<{type(value).__qualname__}>"


@_plain.register(torch.Tensor)
def _tensor(value: torch.Tensor, walk: Walk, depth: int) -> Any:
    facts: dict[str, Any] = {
        "shape": None if value.is_nested else [int(size) for size in value.shape],
        "dtype": str(value.dtype).removeprefix("torch."),
        "device": str(value.device),
    }
    values = value.detach()
    if not has_values(values) or values.numel() > FEW_ELEMENTS:
        return facts
    if values.device.type == "cpu":
        return walk.few(values.tolist(), values.numel(), facts, depth)
    if values.is_cuda and torch.cuda.is_current_stream_capturing():
        return facts
    walk.weight += FEW_ELEMENTS
    return Later(values) if values.numel() == 1 else {**facts, "values": Later(values)}


@_plain.register(np.ndarray)
def _array(value: np.ndarray[Any, Any], walk: Walk, depth: int) -> Any:
    facts: dict[str, Any] = {"shape": list(value.shape), "dtype": str(value.dtype)}
    if value.dtype.kind not in "biuf" or not 0 < value.size <= FEW_ELEMENTS:
        return facts
    return walk.few(value.tolist(), value.size, facts, depth)


def _numbers(values: Any) -> Any:
    if isinstance(values, list):
        return [_numbers(each) for each in values]
    return values if isinstance(values, int) else _float(float(values))


def _key(key: Any) -> str:
    if isinstance(key, Enum):
        key = key.value
    if key is None or isinstance(key, str | int | float | os.PathLike):
        return str(key)
    return repr(key) if isinstance(key, tuple) else f"<{type(key).__qualname__}>"
