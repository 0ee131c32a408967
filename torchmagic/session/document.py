"""This file is the document: a run as JSON."""

import json
import math
from typing import TYPE_CHECKING, Any

from torchmagic.records.codec import encode
from torchmagic.records.series import Frame

if TYPE_CHECKING:
    from torchmagic.session.run import Run

FORMAT = 1


def to_json(run: "Run") -> str:
    """Return the run as a JSON document; non-finite numbers are the strings NaN, Infinity and -Infinity."""
    return json.dumps(
        {
            "format": FORMAT,
            "torchmagic": "run",
            **header(run),
            "number": run.number,
            "note": run.note,
            "tags": list(run.tags),
            "records": [encode(record) for record in run.records],
            "frames": [_frame_plain(frame) for frame in run.frames],
        },
        allow_nan=False,
    )


def header(run: "Run") -> dict[str, Any]:
    """Return all of a run but its records and series, as plain values; sources only where they may be kept."""
    keeps = run.settings.get("keep_source", True)
    return {
        "id": run.id,
        "name": run.name,
        "source": run.source if keeps else "",
        "texts": run.texts if keeps else {},
        "file_names": run.file_names,
        "settings": run.settings,
        "status": run.status.value,
        "started": run.clock.started,
        "seconds": run.clock.seconds,
        "cost": run.clock.cost,
        "steps": run.steps,
        "findings": [encode(finding) for finding in run.findings],
    }


def _frame_plain(frame: Frame) -> dict[str, Any]:
    rows = list(frame.rows())
    return {
        "metric": frame.metric,
        "subjects": list(frame.subjects),
        "steps": [step for step, _ in rows],
        "rows": [[_number(value) for value in values] for _, values in rows],
        "dropped": dropped_plain(frame),
    }


def dropped_plain(frame: Frame) -> dict[str, Any] | None:
    """Return what is left of a frame's dropped rows as plain values, None while none was dropped."""
    dropped = frame.dropped()
    if dropped is None:
        return None
    return {name: [steps, [_number(value) for value in values]] for name, (steps, values) in dropped.items()}


def _number(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
