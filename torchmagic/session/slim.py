"""This file is the short form of a record in the store: ends for even edges, bits for single-precision samples."""

import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from torchmagic.records.codec import encode, fields_of
from torchmagic.records.snapshot import SnapshotRecord
from torchmagic.records.tensor import EvenEdges, Histogram, even_edges

_SIZE = struct.calcsize("f")


def short(record: Any) -> str:
    """Return a record as JSON, without what ``whole`` can tell from the rest; there are thousands."""
    found = {"kind": type(record).__name__, **fields_of(record)}
    if isinstance(record, SnapshotRecord):
        found["values"] = _bits(record.values) or record.values
    try:
        return _ENCODER.encode(found)
    except (ValueError, TypeError):  # a number that is not finite, or a value that JSON has no like of
        return json.dumps(encode(record))


def whole(plain: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what ``encode`` returns, from what ``short`` wrote."""
    histogram, values = plain.get("histogram"), plain.get("values")
    if plain.get("kind") == SnapshotRecord.__name__ and isinstance(values, str):
        plain = {**plain, "values": list(_unpacked(bytes.fromhex(values)))}
    if not isinstance(histogram, Mapping) or not 1 < len(histogram["edges"]) <= len(histogram["counts"]):
        return plain
    low, high = histogram["edges"]
    return {**plain, "histogram": {**histogram, "edges": even_edges(low, high, len(histogram["counts"]))}}


def _bits(values: Sequence[float]) -> str:
    """Return numbers of single precision as hexadecimal digits of their bits; nothing where one has more digits."""
    try:
        packed = struct.pack(f"<{len(values)}f", *values)
    except OverflowError:
        return ""
    return packed.hex() if _unpacked(packed) == values else ""


def _unpacked(packed: bytes) -> tuple[float, ...]:
    count = len(packed) // _SIZE
    return struct.unpack(f"<{count}f", packed[: count * _SIZE])


def _inner(value: Any) -> dict[str, Any]:
    """Return what JSON shall write of a record within a record."""
    found = fields_of(value)
    if isinstance(value, Histogram) and value.counts and isinstance(value.edges, EvenEdges):
        found["edges"] = value.edges[0], value.edges[-1]
    return found


_ENCODER = json.JSONEncoder(default=_inner, allow_nan=False)
