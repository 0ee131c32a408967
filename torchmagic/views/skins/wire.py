"""This file is the wire skin: a page as plain values that JSON can hold, for the panel's script."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from torchmagic.records.finding import Finding
from torchmagic.views.page import (
    Bars,
    Block,
    Box,
    Cell,
    Code,
    Diff,
    Facts,
    Findings,
    Flame,
    Fold,
    Image,
    Line,
    Page,
    Plot,
    Shares,
    Source,
    SourceLine,
    Table,
    Text,
    Trend,
)
from torchmagic.views.skins.finding_words import copyable, marked, remedy
from torchmagic.views.skins.line_summary import trend_drawing, trend_sentence
from torchmagic.views.skins.pictures import picture_sentence
from torchmagic.views.skins.reading_order import alike_words, reading_order

NUM_POINTS = 400  # more than a panel has pixels for; a line of 10,000 steps would cost 200 KB at each refresh


def as_wire(page: Page) -> dict[str, Any]:
    """Return a page as dicts, lists, strings and finite numbers.

    NaN and the infinities become the strings ``nan``, ``inf`` and ``-inf``. Findings arrive in reading order, with
    those that are alike and their consequences inside. Lines keep about ``NUM_POINTS`` points.

    Args:
        page: Any page.

    Returns:
        ``{"title", "folded", "blocks"}``; each block has a ``kind``: ``text``, ``code``, ``facts``, ``table``,
        ``plot``, ``bars``, ``shares``, ``flame``, ``source``, ``diff``, ``findings`` or ``fold``, which has blocks in
        it. A trend in a
        table's cell is its drawing and its words.
    """
    return {"title": page.title, "folded": page.folded, "blocks": [_block(block) for block in page.blocks]}


def thinned(line: Line, *, num_points: int = NUM_POINTS) -> Line:
    """Return a line with fewer points: the first, the last, and each stretch's least, greatest and first not finite.

    Args:
        line: The line, of any length.
        num_points: About how many points to keep.
    """
    length = min(len(line.steps), len(line.values))
    if length <= num_points:
        return line
    num_buckets = max(1, num_points // 2)
    edges = [round(i * length / num_buckets) for i in range(num_buckets + 1)]
    values = np.asarray(line.values, dtype=float)[:length]
    finite = np.isfinite(values)
    lows, highs = np.where(finite, values, np.inf), np.where(finite, values, -np.inf)
    kept = {0, length - 1}
    for start, end in pairwise(edges):
        inside = finite[start:end]
        if inside.any():
            kept.add(start + int(lows[start:end].argmin()))
            kept.add(start + int(highs[start:end].argmax()))
        if not inside.all():
            kept.add(start + int(inside.argmin()))
    order = sorted(kept)
    return Line(name=line.name, steps=[line.steps[i] for i in order], values=[line.values[i] for i in order])


def _block(block: Block) -> dict[str, Any]:  # noqa: C901, PLR0911, PLR0912 - one answer a kind of block
    match block:
        case Text():
            return {"kind": "text", "text": block.text, "strong": block.strong}
        case Code():
            return {"kind": "code", "text": block.text}
        case Facts():
            return {"kind": "facts", "rows": [[name, value] for name, value in block.rows]}
        case Table():
            rows = [[_cell(cell) for cell in row] for row in block.rows]
            head = {"kind": "table", **({"title": block.title} if block.title else {}), "columns": list(block.columns)}
            return {**head, "rows": rows, "marked": sorted(block.marked)}
        case Plot():
            return _plot(block)
        case Bars():
            edges = [_plain(edge) for edge in block.edges]
            return {"kind": "bars", "title": block.title, "edges": edges, "counts": [int(n) for n in block.counts]}
        case Image():
            return {"kind": "text", "text": f"{block.title}: {picture_sentence(block)}", "strong": False}
        case Shares():
            parts = [[name, _plain(amount)] for name, amount in block.parts]
            return {"kind": "shares", "title": block.title, "unit": block.unit, "parts": parts}
        case Flame():
            boxes = [_box(box) for box in block.boxes]
            return {"kind": "flame", "title": block.title, "unit": block.unit, "boxes": boxes}
        case Source():
            head = {"title": block.title, "columns": list(block.columns)}
            return {"kind": "source", **head, "lines": [_source_line(line) for line in block.lines]}
        case Diff():
            lines = [[sign, text] for sign, text in block.lines]
            return {"kind": "diff", "title": block.title, "old": block.old, "new": block.new, "lines": lines}
        case Findings():
            return _findings(block)
        case Fold():
            return {"kind": "fold", "title": block.title, "blocks": [_block(inner) for inner in block.blocks]}


def _plot(plot: Plot) -> dict[str, Any]:
    lines = [
        {"name": line.name, "steps": [_plain(x) for x in line.steps], "values": [_plain(y) for y in line.values]}
        for line in (_even(plot.lines) if plot.stacked else map(thinned, plot.lines))
    ]
    labels = {"title": plot.title, "x_label": plot.x_label, "y_label": plot.y_label}
    marks = [[_plain(step), word] for step, word in plot.marks]
    return {"kind": "plot", **labels, "log": plot.log, "stacked": plot.stacked, "lines": lines, "marks": marks}


def _box(box: Box) -> dict[str, Any]:
    parts = [_box(part) for part in box.parts]
    return {"name": box.name, "amount": _plain(box.amount), "told": box.told, "parts": parts}


def _source_line(line: SourceLine) -> dict[str, Any]:
    return {"number": line.number, "text": line.text, "heat": _plain(line.heat), "cells": list(line.cells)}


def _even(lines: Sequence[Line]) -> list[Line]:
    """Return lines with fewer points, the same of each, so that they can stand on each other."""
    every = max(1, -(-max((len(line.steps) for line in lines), default=0) // NUM_POINTS))
    return [Line(name=line.name, steps=line.steps[::every], values=line.values[::every]) for line in lines]


def _cell(value: Cell) -> object:
    if isinstance(value, Trend):
        return {"trend": trend_drawing(value), "told": trend_sentence(value)}
    return _plain(value)


def _findings(block: Findings) -> dict[str, Any]:
    roots = [
        {
            **_finding(root.finding),
            "doubtful": root.doubtful,
            "alike": [_finding(one) for one in root.alike],
            "alike_words": alike_words(root) if root.alike else "",
            "consequences": [_finding(one) for one in root.consequences],
        }
        for root in reading_order(block.findings)
    ]
    return {"kind": "findings", "findings": roots}


def _finding(finding: Finding) -> dict[str, Any]:
    fix, code = remedy(finding.fix)
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "confidence": _plain(finding.confidence),
        "title": finding.title,
        "module": finding.module,
        "parameter": finding.parameter,
        "optimizer": finding.optimizer,
        "line": finding.line,
        "file": finding.file,
        "source": finding.source,
        "step": finding.step,
        "evidence": [[name, _plain(value)] for name, value in finding.evidence.items()],
        "why": finding.why,
        "fix": marked(fix),
        "code": code,
        "copy": copyable(finding.fix),
        "causes": list(finding.causes),
    }


def _plain(value: object) -> str | int | float | bool | None:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float) or hasattr(value, "__float__"):
        number = float(value)  # also numpy's scalars, which JSON does not know
        if math.isfinite(number):
            return number
        return "nan" if math.isnan(number) else "inf" if number > 0 else "-inf"
    return str(value)
