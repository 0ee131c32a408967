"""This file is the codec: records and findings to plain JSON values and back."""

import math
import types
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from torchmagic.records.kinds import KINDS

# What JSON gives back as it was; there may be very many of them.
_AS_THEY_ARE = (str, int)
_PLAIN = {str, int, bool, type(None)}
_BY_NAME = {kind.__name__: kind for kind in KINDS}


def encode(record: object) -> dict[str, Any]:
    """Return a record as a JSON object with its class under ``kind``.

    Non-finite numbers become the strings ``NaN``, ``Infinity`` and ``-Infinity``, which every JSON reader takes.
    """
    return {"kind": type(record).__name__, **_plain_fields(record)}


def fields_of(record: object) -> dict[str, Any]:
    """Return a record's fields by their names, as they are.

    Raises:
        TypeError: If it is no record.
    """
    kind: Any = type(record)
    return {name: getattr(record, name) for name in _names(kind)}


def decode(value: Mapping[str, Any]) -> Any:
    """Return the record that ``encode`` wrote; fields this version does not know are left out.

    Raises:
        ValueError: If the kind is unknown.
    """
    kind = _BY_NAME.get(str(value.get("kind")))
    if kind is None:
        raise ValueError(f"unknown kind of record {value.get('kind')!r}; it may come from a newer torchmagic")
    return _build(kind, value)


def _plain_fields(record: Any) -> dict[str, Any]:
    return {name: _plain(value) for name, value in fields_of(record).items()}


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def _plain(value: Any) -> Any:
    kind = type(value)
    if kind in _PLAIN:
        return value
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, float):
        return (
            value if math.isfinite(value) else "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        )
    if isinstance(value, (tuple, list)):
        return list(value) if _is_plain(value) else [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return _plain_fields(value) if is_dataclass(kind) else value


def _is_plain(values: Sequence[Any]) -> bool:
    """Whether JSON takes a sequence as it is; there may be many, as of counts, and long ones."""
    kinds = set(map(type, values))
    return kinds <= _PLAIN or (kinds == {float} and all(map(math.isfinite, values)))


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _build(kind: type, value: Mapping[str, Any]) -> Any:
    return kind(**{name: _rebuilt(hint, value[name]) for name, hint in _hints(kind).items() if name in value})


def _rebuilt(hint: Any, value: Any) -> Any:
    """Turn a plain value into what the type hint asks for."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return _from_union(get_args(hint), value)
    if origin is tuple:
        inner = get_args(hint)[0]
        return tuple(value) if inner in _AS_THEY_ARE else tuple(_rebuilt(inner, item) for item in value)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        inner = get_args(hint)[1]
        return dict(value) if inner in _AS_THEY_ARE else {key: _rebuilt(inner, item) for key, item in value.items()}
    if is_dataclass(hint):
        return _build(hint, value)  # type: ignore[arg-type] # the hint is the class itself
    if hint is float:
        return float(value)
    return hint(value) if isinstance(hint, type) and issubclass(hint, StrEnum) else value


def _from_union(options: tuple[Any, ...], value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, str):
        if float in options and value in ("NaN", "Infinity", "-Infinity"):
            return float(value)
        return value
    dataclass_option = next((option for option in options if is_dataclass(option)), None)
    return value if dataclass_option is None else _build(dataclass_option, value)  # type: ignore[arg-type] # a class
