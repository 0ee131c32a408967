"""This file is the short form of a record in the store: of edges at even distances the two ends are enough."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from torchmagic.records.codec import encode
from torchmagic.records.tensor import EvenEdges, Histogram, even_edges


def slim(record: Any) -> Mapping[str, Any]:
    """Return a record as ``encode`` does, without what ``whole`` can tell from the rest; there are thousands."""
    histogram = getattr(record, "histogram", None)
    if isinstance(histogram, Histogram) and histogram.counts and isinstance(histogram.edges, EvenEdges):
        ends = histogram.edges[0], histogram.edges[-1]
        return encode(replace(record, histogram=replace(histogram, edges=ends)))
    return encode(record)


def whole(plain: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what ``encode`` returns, from what ``slim`` does."""
    histogram = plain.get("histogram")
    if not isinstance(histogram, Mapping) or not 1 < len(histogram["edges"]) <= len(histogram["counts"]):
        return plain
    low, high = histogram["edges"]
    return {**plain, "histogram": {**histogram, "edges": even_edges(low, high, len(histogram["counts"]))}}
