"""This file is the way back: a run read from a JSON document."""

import json
from pathlib import Path
from typing import Any

from torchmagic.records.codec import decode
from torchmagic.records.series import Frame
from torchmagic.session.document import FORMAT
from torchmagic.session.run import Run, Status

_NO_RUN = "this is no run saved by torchmagic; save one with run.save(path)"
_SEVERAL = "this is an export of several runs, and one is read at a time; export each to a file of its own, by runs="


def from_json(text: str) -> Run:
    """Return the run that ``to_json`` wrote.

    Raises:
        ValueError: If the text is no such document, or one of a newer format.
    """
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"this is no run saved by torchmagic: not JSON ({error})") from None
    except RecursionError:
        raise ValueError(f"{_NO_RUN} (it is nested too deeply)") from None
    if isinstance(document, dict) and document.get("torchmagic") == "runs":
        raise ValueError(_SEVERAL)
    if not isinstance(document, dict) or document.get("torchmagic") != "run":
        raise ValueError(_NO_RUN)
    if not isinstance(document.get("format"), int):
        raise ValueError(f"{_NO_RUN} (it tells no format)")  # noqa: TRY004 - as above
    if document["format"] > FORMAT:
        raise ValueError(f"this run has format {document['format']}, this torchmagic reads up to {FORMAT}; update it")
    try:
        return _run_from(document)
    except KeyError as error:
        raise ValueError(f"{_NO_RUN} (it lacks {error})") from error
    except (TypeError, ValueError, AttributeError, ArithmeticError, LookupError, RecursionError) as error:
        raise ValueError(f"{_NO_RUN} ({' '.join(str(error).split())})") from error


def _run_from(document: dict[str, Any]) -> Run:
    run = from_header(document)
    run.number, run.note = int(document.get("number", 0)), str(document.get("note", ""))
    run.tags = tuple(map(str, document.get("tags", ())))
    run.records.extend(decode(record) for record in document["records"])
    for plain in document["frames"]:
        frame = run.frame(str(plain["metric"]), subjects_of(plain["subjects"]))
        for step, row in zip(plain["steps"], plain["rows"], strict=True):
            if len(row) != len(frame.subjects):
                raise ValueError(f"a row of {frame.metric!r} has {len(row)} values for {len(frame.subjects)} columns")
            frame.append(step, [float(value) for value in row])
        restore(frame, plain.get("dropped"))
    return run


def subjects_of(plain: Any) -> tuple[str, ...]:
    """Return the columns of a frame.

    Raises:
        ValueError: If these are no different names.
    """
    if not isinstance(plain, list) or not all(isinstance(name, str) for name in plain):
        raise ValueError("the columns of a series are no names")
    if len(set(plain)) < len(plain):
        raise ValueError("two columns of a series have one name")
    return tuple(plain)


def load(path: str | Path) -> Run:
    """Read a run from a file.

    Raises:
        ValueError: If the file holds no run.
        OSError: If it cannot be read.
    """
    try:
        text = Path(path).expanduser().read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no run saved by torchmagic: not JSON (not even text)") from None
    try:
        return from_json(text)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def restore(frame: Frame, plain: dict[str, Any] | None) -> None:
    """Give a frame what ``dropped_plain`` told of the rows that it no longer has."""
    if plain is not None:
        frame.restore({name: (steps, [float(value) for value in values]) for name, (steps, values) in plain.items()})


def from_header(plain: dict[str, Any]) -> Run:
    """Return a run without records from what ``header`` gave."""
    run = Run(run_id=str(plain["id"]), name=str(plain["name"]), source=str(plain["source"]), settings=plain["settings"])
    run.status = Status(plain["status"])
    run.clock.started, run.clock.seconds = float(plain["started"]), float(plain["seconds"])
    run.clock.cost = float(plain["cost"])
    run.steps = int(plain["steps"])
    run.texts = {str(file): str(text) for file, text in plain.get("texts", {}).items()}
    run.file_names = {str(file): str(name) for file, name in plain.get("file_names", {}).items()}
    run.findings = tuple(decode(finding) for finding in plain["findings"])
    return run
