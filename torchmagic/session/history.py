"""This file is the history: one line a run, drawn up without reading the whole of it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from torchmagic.session.status import Status

if TYPE_CHECKING:
    from torchmagic.session.run import Run

# Values of the loss that an entry keeps for a sparkline.
MOST_VALUES = 60
# Longer lines of code are cut: an entry is one line of a table.
MOST_HEADING = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of the history.

    Args:
        number: Number of the run, from 1; the store gives it, and it never changes.
        id: Its unique id.
        name: Label given by the user, or empty.
        status: How it stands or ended.
        started: Seconds since the epoch.
        seconds: Wall time.
        cost: Seconds of it spent inside torchmagic.
        steps: Optimizer steps.
        errors: Findings of severity error.
        warnings: Findings of severity warning.
        infos: Findings of severity info.
        loss: At most 60 values, evenly over the run, of the loss that was named first.
        note: What the user noted about it.
        tags: The user's tags.
        here: Whether it is a run of this process.
        saved: Whether the store holds it.
        heading: Its name, or else the first line of its source that is code.
    """

    number: int
    id: str
    name: str
    status: Status
    started: float
    seconds: float
    cost: float
    steps: int
    errors: int
    warnings: int
    infos: int
    loss: tuple[float, ...] = ()
    note: str = ""
    tags: tuple[str, ...] = ()
    here: bool = False
    saved: bool = False
    heading: str = ""


def entry_of(run: "Run", *, here: bool = True, saved: bool = False) -> Entry:
    """Return the line of a run that is in memory."""
    severities = [finding.severity.value for finding in run.findings]
    return Entry(
        number=run.number,
        id=run.id,
        name=run.name,
        status=run.status,
        started=run.clock.started,
        seconds=run.clock.seconds,
        cost=run.clock.cost,
        steps=run.steps,
        errors=severities.count("error"),
        warnings=severities.count("warning"),
        infos=severities.count("info"),
        loss=loss_line(run),
        note=run.note,
        tags=run.tags,
        here=here,
        saved=saved,
        heading=heading(run.name, run.source),
    )


def heading(name: str, source: str) -> str:
    """Return what a run is called in a list: its name, or else the first line of its source that is code."""
    if name:
        return name
    lines = (line.strip() for line in source.splitlines())
    return next((line[:MOST_HEADING] for line in lines if line and not line.startswith(("#", "%"))), "")


def loss_line(run: "Run") -> tuple[float, ...]:
    """Return at most 60 values of the loss that was named first, evenly over the run."""
    frame = next((frame for frame in run.frames if frame.metric == "loss"), None)
    return () if frame is None else frame.sampled(MOST_VALUES)


def body_of(entry: Entry) -> str:
    """Return the part of an entry that changes as the run goes on, as JSON for the store."""
    names = ("name", "started", "seconds", "cost", "steps", "errors", "warnings", "infos", "heading")
    plain = {name: getattr(entry, name) for name in names}
    return json.dumps({**plain, "status": entry.status.value, "loss": [repr(value) for value in entry.loss]})


def entry_from(number: int, run_id: str, body: str, note: str, tags: str) -> Entry:
    """Return the entry that the store holds.

    Raises:
        ValueError: If its parts are not what ``body_of`` wrote.
    """
    plain, told, marked = json.loads(body), json.loads(note), json.loads(tags)
    if not (isinstance(plain, dict) and isinstance(told, str) and isinstance(marked, list)):
        raise ValueError(f"run {number} has a damaged line in the history")  # noqa: TRY004 - what is read is no argument
    try:
        return _built(number, run_id, plain, told, tuple(map(str, marked)))
    except (KeyError, TypeError, OverflowError) as error:
        raise ValueError(f"run {number} has a damaged line in the history ({error!r})") from None


def _built(number: int, run_id: str, plain: Mapping[str, Any], note: str, tags: tuple[str, ...]) -> Entry:
    return Entry(
        number=int(number),
        id=str(run_id),
        name=str(plain["name"]),
        status=Status(plain["status"]),
        started=float(plain["started"]),
        seconds=float(plain["seconds"]),
        cost=float(plain["cost"]),
        steps=int(plain["steps"]),
        errors=int(plain["errors"]),
        warnings=int(plain["warnings"]),
        infos=int(plain["infos"]),
        loss=tuple(map(float, plain["loss"])),
        note=note,
        tags=tags,
        saved=True,
        heading=str(plain["heading"]),
    )


def merged(stored: Sequence[Entry], here: Sequence[Entry]) -> list[Entry]:
    """Return one line a run in the order of their numbers; what this process knows of its own runs goes first."""
    lines = {entry.id: entry for entry in stored}
    for entry in here:
        known = lines.get(entry.id)
        lines[entry.id] = entry if known is None else replace(entry, saved=True, number=entry.number or known.number)
    return sorted(lines.values(), key=lambda entry: (entry.number, entry.started))
