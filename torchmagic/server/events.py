"""This file is the events of live runs: what became new since the last look, found by reading the runs."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from torchmagic.records.finding import Finding
from torchmagic.records.series import Frame
from torchmagic.server.plain import plain, text
from torchmagic.server.reading import Reader
from torchmagic.server.standing import MOST_COLUMNS, TOLD, Standing, standings
from torchmagic.session.run import Run

# Of the steps between two looks so many are told one by one; the others are counted in the next one's ``skipped``.
MOST_STEPS = 16
# A run of this process is judged after its status says that it has ended; so many looks later it is called closed.
LOOKS_AFTER_THE_END = 2


def event(kind: str, about: Mapping[str, Any]) -> str:
    """Return an event as a stream of server-sent events has it."""
    return f"event: {kind}\ndata: {json.dumps(plain(about), allow_nan=False)}\n\n"


class News:
    """Compares how runs stand with how they stood; one thread at a time may ask.

    The training is not touched: its columns are read, from where the last look ended.

    Args:
        reader: Finds the runs.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._followed: dict[str, _Followed] = {}
        self._known: set[str] = set()

    def begin(self) -> None:
        """Take what there is as known.

        Raises:
            StoreError: If a store is served and cannot be read.
        """
        runs = self._runs()
        self._known = {entry.id for entry in self._reader.entries()} if self._reader.here() is None else set(runs)
        going_on = [each for each in standings(self._reader) if each.goes_on]
        self._followed = {each.id: _Followed(each, runs.get(each.id)) for each in going_on}

    def open(self) -> list[str]:
        """Return an event for each run that goes on, for a client that has just come."""
        return [event("opened", each.about()) for each in tuple(self._followed.values()) if each.standing.goes_on]

    def end(self) -> None:
        """Let go of the runs: nobody listens any more."""
        self._followed = {}

    def look(self) -> list[str]:
        """Return what became new, in order.

        Raises:
            StoreError: If a store is served and cannot be read.
        """
        runs, found = self._runs(), list[str]()
        present = {each.id: each for each in standings(self._reader)}
        for standing in present.values():
            if standing.id not in self._known:
                self._known.add(standing.id)
                self._followed[standing.id] = _Followed(standing, runs.get(standing.id), is_new=True)
                found.append(event("opened", self._followed[standing.id].about()))
            if standing.id in self._followed:
                found += self._followed[standing.id].news(standing)
        self._followed = {name: each for name, each in self._followed.items() if name in present and not each.is_over}
        return found

    def _runs(self) -> dict[str, Run]:
        return {run.id: run for run in self._reader.here() or ()}


class _Followed:
    """One run: how it stood, and how far its rows have been told.

    Args:
        standing: How it stands.
        run: The run itself, where it is one of this process.
        is_new: Whether it has begun since the last look, so that all of it is news.
    """

    def __init__(self, standing: Standing, run: Run | None, *, is_new: bool = False) -> None:
        self.standing, self._run = standing, run
        self.is_over = False
        self._told = 0 if is_new else standing.steps
        self._findings = set() if is_new or run is None else {_key(finding) for finding in run.findings}
        # Rows of the step that goes on may be there already.
        frames = () if run is None else tuple(run.frames)
        self._seen = {id(frame): max(0, len(frame) - MOST_STEPS) for frame in frames}
        self._rows: dict[int, dict[str, float]] = {}
        self._grace = 0 if run is None else LOOKS_AFTER_THE_END

    def about(self) -> dict[str, Any]:
        """What each event says of its run."""
        each = self.standing
        about = {"run": each.id, "number": each.number, "name": each.name, "status": each.status.value}
        return about | {"steps": each.steps, "findings": dict(each.findings)}

    def news(self, standing: Standing) -> Iterator[str]:
        """Yield what became new of a run."""
        self.standing = standing
        yield from self._steps()
        yield from self._new_findings()
        if standing.goes_on:
            return
        if self._grace:
            self._grace -= 1
            return
        self.is_over = True
        yield event("closed", self.about())

    def _steps(self) -> Iterator[str]:
        """Yield the newest steps that ended; rows of the step that goes on wait for its end."""
        self._read_rows()
        now = self.standing.steps
        chosen = sorted(step for step in self._rows if self._told <= step < now)[-MOST_STEPS:]
        if not chosen and now > self._told:
            chosen = [now - 1]
        for step in chosen:
            values = self._rows.get(step, {}) if self._run is not None else self._newest()
            about = {"run": self.standing.id, "number": self.standing.number, "step": step}
            yield event("step", about | {"skipped": step - self._told, "values": values})
            self._told = step + 1
        self._rows = {step: values for step, values in self._rows.items() if step >= now}

    def _newest(self) -> dict[str, float]:
        return {_named(metric, subject): value for (metric, subject), value in self.standing.values().items()}

    def _read_rows(self) -> None:
        for frame in () if self._run is None else tuple(self._run.frames):
            if frame.metric in TOLD and len(frame.subjects) <= MOST_COLUMNS:
                self._read(frame)

    def _read(self, frame: Frame) -> None:
        raw_steps, raw_values, self._seen[id(frame)] = frame.rows_since(self._seen.get(id(frame), 0))
        width = len(frame.subjects)
        kind = np.float64 if width == 1 else np.float32
        steps = np.frombuffer(raw_steps, dtype=np.int64)[-MOST_STEPS - 1 :].tolist()
        values = np.frombuffer(raw_values, dtype=kind).reshape(-1, width)[-MOST_STEPS - 1 :].tolist()
        for step, row in zip(steps, values, strict=True):
            told = self._rows.setdefault(step, {})
            told |= {_named(frame.metric, subject): value for subject, value in zip(frame.subjects, row, strict=True)}

    def _new_findings(self) -> Iterator[str]:
        for finding in () if self._run is None else self._run.findings:
            if _key(finding) not in self._findings:
                self._findings.add(_key(finding))
                yield event("finding", {"run": self.standing.id, "number": self.standing.number, **asdict(finding)})


def _named(metric: str, subject: str) -> str:
    """Return the name of a value: of several losses, or groups of an optimizer, with the subject's behind it."""
    return metric if subject in ("", metric) else text(f"{metric}[{subject}]")


def _key(finding: Finding) -> tuple[object, ...]:
    return finding.rule, finding.module, finding.parameter, finding.optimizer, finding.line
