"""This file is the JSON Schema of the JSON export: drawn from the records themselves, so that it cannot fall behind."""

import json
import sys
import types
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from enum import StrEnum
from typing import Any, Union, get_args, get_origin, get_type_hints

from torchmagic.records.kinds import KINDS
from torchmagic.session.document import FORMAT
from torchmagic.session.status import Status

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NUMBER = {"$ref": "#/$defs/number"}
_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: _NUMBER,
    type(None): {"type": "null"},
    Any: {},
}


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of what ``export`` writes to ``.json``: one run, or several."""
    return {
        "$schema": DIALECT,
        "title": f"torchmagic run, format {FORMAT}",
        "description": "One run, or several. Readers should pass over properties and kinds that they do not know.",
        "oneOf": [{"$ref": "#/$defs/run"}, {"$ref": "#/$defs/runs"}],
        "$defs": {
            "run": _run(),
            "runs": _object(
                {"format": {"const": FORMAT}, "torchmagic": {"const": "runs"}, "runs": _list({"$ref": "#/$defs/run"})}
            ),
            "frame": _frame(),
            "number": {
                "description": "A number; those that JSON does not know are told by name.",
                "anyOf": [{"type": "number"}, {"enum": ["NaN", "Infinity", "-Infinity"]}],
            },
            "record": {"oneOf": [{"$ref": f"#/$defs/{kind.__name__}"} for kind in KINDS]},
            **{kind.__name__: _kind(kind) for kind in KINDS},
        },
    }


def _run() -> dict[str, Any]:
    text, number = _PLAIN[str], {"type": "number"}
    needed = {
        "format": {"const": FORMAT},
        "torchmagic": {"const": "run"},
        "id": text,
        "name": text,
        "source": {**text, "description": "The cell that was watched; empty where it was not kept."},
        "settings": {"type": "object"},
        "status": {"enum": [status.value for status in Status]},
        "started": {**number, "description": "Seconds since the epoch."},
        "seconds": {**number, "description": "Wall time of the run."},
        "cost": {**number, "description": "Seconds of it that torchmagic took."},
        "steps": {"type": "integer", "minimum": 0},
        "findings": _list({"$ref": "#/$defs/Finding"}),
        "records": _list({"$ref": "#/$defs/record"}),
        "frames": _list({"$ref": "#/$defs/frame"}),
    }
    texts = {
        "type": "object",
        "additionalProperties": text,
        "description": "Other cells and files whose code took part, by the name that places give; empty as source is.",
    }
    file_names = {"type": "object", "additionalProperties": text, "description": "What to call these."}
    extra = {"number": _PLAIN[int], "note": text, "tags": _list(text), "texts": texts, "file_names": file_names}
    return _object(needed, optional=extra)


def _frame() -> dict[str, Any]:
    points = {"type": "array", "prefixItems": [_list(_PLAIN[int]), _list(_NUMBER)], "minItems": 2, "maxItems": 2}
    dropped = _object({"last": points, "low": points, "high": points})
    return {
        "description": "Values of one metric: a row a step, in it a number a subject. 'dropped' has, of a long run, "
        "what is left of rows that are not kept: the newest row, and the least and greatest value of each subject "
        "with its step (-1 where there is none).",
        **_object(
            {
                "metric": _PLAIN[str],
                "subjects": _list(_PLAIN[str]),
                "steps": _list(_PLAIN[int]),
                "rows": _list(_list(_NUMBER)),
                "dropped": {"anyOf": [{"type": "null"}, dropped]},
            }
        ),
    }


def _kind(kind: type) -> dict[str, Any]:
    return {"description": _sentence(kind), **_fields(kind, {"kind": {"const": kind.__name__}})}


def _sentence(kind: type) -> str:
    return " ".join((kind.__doc__ or "").split("\n\n")[0].split())


def _fields(kind: type, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
    hints = get_type_hints(kind)
    known = [each for each in fields(kind) if each.name in hints]
    added_later = {each.name for each in known if each.default is not MISSING or each.default_factory is not MISSING}
    described = {each.name: _described(hints[each.name]) for each in known}
    return _object(
        {**(more or {}), **{name: each for name, each in described.items() if name not in added_later}},
        optional={name: each for name, each in described.items() if name in added_later},
    )


def _described(hint: Any) -> dict[str, Any]:  # noqa: PLR0911 - one answer a kind of hint
    """Return the schema of what the codec writes for a type hint."""
    origin, inside = get_origin(hint), get_args(hint)
    if hint in _PLAIN:
        return _PLAIN[hint]
    if origin in (Union, types.UnionType):
        return {"anyOf": [_described(each) for each in inside]}
    if origin is tuple and inside[-1:] != (...,):
        parts = [_described(each) for each in inside]
        return {"type": "array", "prefixItems": parts, "minItems": len(parts), "maxItems": len(parts)}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _described(inside[1])}
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return _list(_described(inside[0]))
    if issubclass(hint, StrEnum):
        return {"enum": [each.value for each in hint]}
    return _fields(hint)


def _list(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _object(needed: Mapping[str, Any], *, optional: Mapping[str, Any] | None = None) -> dict[str, Any]:
    properties = {**needed, **(optional or {})}
    return {"type": "object", "properties": properties, "required": list(needed), "additionalProperties": False}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(json_schema(), indent=1) + "\n")
