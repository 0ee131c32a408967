"""This file is the way back: a run read from a JSON document."""

import json
from pathlib import Path
from typing import Any

from torchmagic.records.codec import decode
from torchmagic.records.series import Frame
from torchmagic.session.document import FORMAT
from torchmagic.session.run import Run, Status

_NO_RUN = "this is no run saved by torchmagic; save one with run.save(path)"


def from_json(text: str) -> Run:
    """Return the run that ``to_json`` wrote.

    Raises:
        ValueError: If the text is no such document, or one of a newer format.
    """
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"this is no run saved by torchmagic: not JSON ({error})") from None
    if not isinstance(document, dict) or document.get("torchmagic") != "run":
        raise ValueError(_NO_RUN)
    if document.get("format", 0) > FORMAT:
        raise ValueError(f"this run has format {document['format']}, this torchmagic reads up to {FORMAT}; update it")
    try:
        return _run_from(document)
    except (KeyError, TypeError) as error:
        raise ValueError(f"{_NO_RUN} (it lacks {error})") from error


def _run_from(document: dict[str, Any]) -> Run:
    run = from_header(document)
    run.records.extend(decode(record) for record in document["records"])
    for plain in document["frames"]:
        frame = run.frame(plain["metric"], plain["subjects"])
        for step, row in zip(plain["steps"], plain["rows"], strict=True):
            frame.append(step, [float(value) for value in row])
        restore(frame, plain.get("dropped"))
    return run


def load(path: str | Path) -> Run:
    """Read a run from a file.

    Raises:
        ValueError: If the file holds no run.
        OSError: If it cannot be read.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no run saved by torchmagic: not JSON (not even text)") from None
    return from_json(text)


def restore(frame: Frame, plain: dict[str, Any] | None) -> None:
    """Give a frame what ``dropped_plain`` told of the rows that it no longer has."""
    if plain is not None:
        frame.restore({name: (steps, [float(value) for value in values]) for name, (steps, values) in plain.items()})


def from_header(plain: dict[str, Any]) -> Run:
    """Return a run without records from what ``header`` gave."""
    run = Run(run_id=plain["id"], name=plain["name"], source=plain["source"], settings=plain["settings"])
    run.status = Status(plain["status"])
    run.clock.started, run.clock.seconds, run.clock.cost = plain["started"], plain["seconds"], plain["cost"]
    run.steps = plain["steps"]
    run.findings = tuple(decode(finding) for finding in plain["findings"])
    return run
