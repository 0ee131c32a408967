"""This file is what runs say in answers: lines, findings and series, read off them."""

from torchmagic.server.answers import (
    FindingLine,
    FindingList,
    ProgressLine,
    RunDetail,
    RunLine,
    Series,
    SeriesName,
    SeriesNames,
)
from torchmagic.server.plain import plain, text
from torchmagic.server.points import points_of, thinned
from torchmagic.server.reading import keeps_source
from torchmagic.session.document import header
from torchmagic.session.history import Entry, entry_of
from torchmagic.session.run import Run

MOST_SUBJECTS = 1000


def run_line(entry: Entry) -> RunLine:
    """Return one line of the history."""
    return RunLine.model_validate(entry)


def run_detail(run: Run, *, here: bool) -> RunDetail:
    """Return one run without its records and series; the source only where it may be kept.

    Args:
        run: The run.
        here: Whether it is one of this process.
    """
    told = header(run)
    line = run_line(entry_of(run, here=here, saved=not here)).model_dump()
    return RunDetail(
        **line | ({} if keeps_source(run) else {"heading": run.name}),
        source=told["source"],
        settings=plain(told["settings"]),  # type: ignore[arg-type] # of a mapping it makes a dict
        progress=None if run.progress is None else ProgressLine.model_validate(run.progress),
        metrics=list(dict.fromkeys(frame.metric for frame in tuple(run.frames))),
    )


def findings_of(run: Run) -> FindingList:
    """Return the findings of a run."""
    return FindingList(run=run.id, findings=[FindingLine.model_validate(finding) for finding in run.findings])


def series_names(run: Run) -> SeriesNames:
    """Return which series a run has."""
    subjects: dict[str, dict[str, None]] = {}
    points: dict[str, int] = {}
    for frame in tuple(run.frames):
        subjects.setdefault(frame.metric, {}).update(dict.fromkeys(name for name in frame.subjects if name))
        points[frame.metric] = max(points.get(frame.metric, 0), len(frame))
    named = [
        SeriesName(metric=metric, points=points[metric], num_subjects=len(names), subjects=list(names)[:MOST_SUBJECTS])
        for metric, names in subjects.items()
    ]
    return SeriesNames(run=run.id, series=named)


def series(run: Run, metric: str, subject: str, most: int) -> Series:
    """Return one series, thinned.

    Args:
        run: The run.
        metric: Name of the metric.
        subject: Parameter, module or loss; empty for the whole run, or for the only one.
        most: Most points.

    Raises:
        MissingError: If there is no such series; one line says which there are.
    """
    points = points_of(run, metric, subject)
    steps, values = thinned(points, most)
    return Series(
        run=run.id,
        metric=text(metric),
        subject=subject,
        steps=steps.tolist(),
        values=values.tolist(),
        points=len(points[0]),
    )
