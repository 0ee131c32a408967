"""This file is the points of a series as they are sent: of a long one few, with its ends, extremes and first break."""

from collections.abc import Sequence
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from torchmagic.records.series import Frame
from torchmagic.server.missing import MissingError
from torchmagic.session.run import Run

Points = tuple[NDArray[np.int64], NDArray[np.float64]]
# First, last, least, greatest, and the first value that is not finite.
NUM_ALWAYS_KEPT = 5
NUM_NAMED = 10  # in a line that says which there are


def points_of(run: Run, metric: str, subject: str) -> Points:
    """Return steps and values of one series, in order of step.

    Args:
        run: The run.
        metric: Name of the metric.
        subject: Parameter, module or loss; empty for the series of the whole run, or for the only one.

    Raises:
        MissingError: If there is no such series; one line says which there are.
    """
    frames = [frame for frame in tuple(run.frames) if frame.metric == metric]
    if not frames:
        raise MissingError(_no_metric(run, metric))
    names = dict.fromkeys(name for frame in frames for name in frame.subjects)
    if subject not in names:
        if subject or len(names) != 1:
            raise MissingError(_no_subject(metric, subject, list(names)))
        (subject,) = names
    columns = [_column(frame, subject) for frame in frames if subject in frame.subjects]
    steps = np.concatenate([steps for steps, _ in columns])
    values = np.concatenate([values for _, values in columns])
    order = np.argsort(steps, kind="stable")
    return steps[order], values[order]


def thinned(points: Points, most: int) -> Points:
    """Return at most so many points: evenly chosen ones, the ends, the extremes and the first that is not finite.

    Args:
        points: Steps and values.
        most: Most points to return, 5 or more.
    """
    steps, values = points
    if len(steps) <= most:
        return points
    finite = np.isfinite(values)
    kept = [0, len(steps) - 1]
    if finite.any():
        kept += [
            int(np.where(finite, values, np.inf).argmin()),
            int(np.where(finite, values, -np.inf).argmax()),
        ]
    if not finite.all():
        kept.append(int(finite.argmin()))
    evenly = np.linspace(0, len(steps) - 1, most - NUM_ALWAYS_KEPT + 2).round().astype(np.int64)
    chosen = np.unique(np.concatenate([evenly, np.asarray(kept, dtype=np.int64)]))
    return steps[chosen], values[chosen]


def _column(frame: Frame, subject: str) -> Points:
    """Return a column of a frame with what is left of rows that thinning dropped; nothing is copied value by value."""
    width, column = len(frame.subjects), frame.subjects.index(subject)
    raw_steps, raw_values, _ = frame.rows_since(0)
    steps = np.frombuffer(raw_steps, dtype=np.int64)
    kind = np.float64 if width == 1 else np.float32
    values = np.frombuffer(raw_values, dtype=kind).reshape(-1, width)[:, column].astype(np.float64)
    late = [point for point in _dropped(frame, column) if not ((steps == point[0]) & (values == point[1])).any()]
    if not late:
        return steps, values
    return (
        np.concatenate([steps, np.asarray([step for step, _ in late], dtype=np.int64)]),
        np.concatenate([values, np.asarray([value for _, value in late], dtype=np.float64)]),
    )


def _dropped(frame: Frame, column: int) -> list[tuple[int, float]]:
    dropped = frame.dropped()
    if dropped is None:
        return []
    (last_steps, last_values), *extremes = dropped["last"], dropped["low"], dropped["high"]
    found = {(int(steps[column]), float(values[column])) for steps, values in extremes if steps[column] >= 0}
    if last_steps:
        found.add((int(last_steps[0]), float(last_values[column])))
    return sorted(found)


def _no_metric(run: Run, metric: str) -> str:
    known = list(dict.fromkeys(frame.metric for frame in run.frames))
    if not known:
        return f"the run has no series {metric!r}, and no other one yet"
    return f"the run has no series {metric!r}; {_hint(metric, known)}"


def _no_subject(metric: str, subject: str, names: Sequence[str]) -> str:
    named = [name for name in names if name]
    if subject:
        return f"{metric} has no series of {subject!r}; {_hint(subject, named)}"
    return f"{metric} has no series of the whole run; name one of {len(named):,}, such as ?subject={named[0]}"


def _hint(word: str, known: Sequence[str]) -> str:
    nearest = get_close_matches(word, known, n=1)
    if nearest:
        return f"did you mean {nearest[0]!r}?"
    shown = known[:NUM_NAMED]
    return f"there are {', '.join(shown)}{', …' if len(known) > len(shown) else ''}" if shown else "it has none"
