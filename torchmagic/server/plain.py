"""This file is the plain values that go into an answer: numbers, texts and trees that JSON can hold."""

import math
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, JsonValue, WithJsonSchema

_NUMBER = {"anyOf": [{"type": "number"}, {"type": "string", "enum": ["NaN", "Infinity", "-Infinity"]}]}


def number(value: float) -> float | str:
    """Return a number, or, of one that JSON does not know, its name."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def text(value: object) -> str:
    """Return a text that can be sent: half a character, as damaged file names have, is written out."""
    return str(value).encode("utf-8", "backslashreplace").decode("utf-8")


def plain(value: Any) -> JsonValue:
    """Return a value as JSON can hold it."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return number(value)
    if isinstance(value, Mapping):
        return {text(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return text(value)


# pydantic itself writes numbers that JSON does not know by name (``ser_json_inf_nan``); this describes them.
Number = Annotated[float, WithJsonSchema(_NUMBER, mode="serialization")]
Text = Annotated[str, BeforeValidator(text)]
