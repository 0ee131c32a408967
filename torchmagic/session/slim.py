"""This file is the short form of a record in the store: of edges at even distances the two ends are enough."""

from collections.abc import Mapping
from typing import Any

from torchmagic.records.tensor import even_edges


def slim(plain: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an encoded record without what ``whole`` can tell from the rest; there are thousands of histograms.

    Args:
        plain: What ``encode`` returns.
    """
    histogram = plain.get("histogram")
    if not isinstance(histogram, Mapping) or not histogram["counts"]:
        return plain
    low, *_, high = edges = histogram["edges"]
    if even_edges(low, high, len(histogram["counts"])) != tuple(edges):
        return plain
    return {**plain, "histogram": {**histogram, "edges": [low, high]}}


def whole(plain: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what ``slim`` was given."""
    histogram = plain.get("histogram")
    if not isinstance(histogram, Mapping) or not 1 < len(histogram["edges"]) <= len(histogram["counts"]):
        return plain
    low, high = histogram["edges"]
    return {**plain, "histogram": {**histogram, "edges": even_edges(low, high, len(histogram["counts"]))}}
