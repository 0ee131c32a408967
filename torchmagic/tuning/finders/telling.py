"""This file is how what was found is told: a sentence, the table of settings, what failed, the line to paste."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from torchmagic.analyses.counting import counted
from torchmagic.tuning.finders.deadline import Deadline
from torchmagic.tuning.finders.found import AS_GOOD, BEST, ONLY, SLOWER, UNTOLD, FoundRow, FoundSettings
from torchmagic.tuning.finders.rounds import ENOUGH_ROUNDS, FEWEST_ROUNDS, LOOKS_SLOWER, Timed
from torchmagic.tuning.measure import spread
from torchmagic.views.numbers import as_seconds
from torchmagic.views.page import Block, Cell, Code, Facts, Page, Table, Text

Columns = Mapping[str, Callable[[FoundRow], Cell]]
_FAILURE_ROWS = "Not timed:"
_NAMES = {
    "batch_size": "batch size",
    "num_workers": "workers",
    "prefetch_factor": "prefetch",
    "pin_memory": "pinned",
    "num_threads": "threads",
}


def rows_of_rounds(
    settings: Sequence[Mapping[str, Any]],
    timed: Sequence[Timed],
    figures: Callable[[int], Mapping[str, float]] = lambda _: {},
) -> list[FoundRow]:
    """Return a row for each setting that took part in rounds.

    Args:
        settings: The settings.
        timed: What became of them, in the same order.
        figures: Returns what else was measured of the setting of an index.
    """
    verdicts = _verdicts(timed)
    return [
        FoundRow(setting=setting, failure=each.failure, verdict="")
        if each.failure
        else FoundRow(setting=setting, times=spread(each.times), verdict=verdict, figures=figures(i))
        for i, (setting, each, verdict) in enumerate(zip(settings, timed, verdicts, strict=True))
    ]


def _verdicts(timed: Sequence[Timed]) -> list[str]:
    known = [i for i, each in enumerate(timed) if each.times and not each.failure]
    left = [i for i in known if not timed[i].is_slower]
    medians = {i: spread(timed[i].times).median for i in left}
    best = min(medians, key=medians.__getitem__, default=None)
    words = dict.fromkeys(known, SLOWER)
    for i in left:
        number = len(timed[i].times)
        looks_slower = best is not None and medians[i] > LOOKS_SLOWER * medians[best]
        is_few = number < FEWEST_ROUNDS or (number < ENOUGH_ROUNDS and looks_slower)
        words[i] = UNTOLD if is_few and len(left) > 1 else BEST if i == best else AS_GOOD
    if len(known) == 1:
        words[known[0]] = ONLY
    return [words.get(i, "") for i in range(len(timed))]


def nothing_told(rows: Sequence[FoundRow], what: str, deadline: Deadline) -> str:
    """Return the sentence where no setting can be taken.

    Args:
        rows: The rows.
        what: What was to be timed.
        deadline: By which the search went.
    """
    failed = [row for row in rows if row.failure]
    if failed and len(failed) == len(rows):
        return f"No {what} could be timed: {failed[0].failure}."
    known = [row for row in rows if row.times]
    if len(known) == 1:
        return f"Nothing can be told: only {written(known[0].setting)} could be timed."
    best = min(known, key=lambda row: row.median or 0.0, default=None)
    if best is None or best.times is None:
        return f"Nothing can be told after {deadline.seconds:g} s; give a longer time_limit."
    number = best.times.number
    rounds = counted(number, "round")
    return f"{written(best.setting)} looks fastest, but {rounds} are too few to tell; give a longer time_limit."


def time_columns(of_what: str) -> dict[str, Callable[[FoundRow], Cell]]:
    """Return the columns of the median, of the quartiles and of the number of rounds, for times of something."""
    return {
        of_what: lambda row: as_seconds(row.times.median) if row.times else None,
        "quartiles": lambda row: f"{as_seconds(row.times.low)} – {as_seconds(row.times.high)}" if row.times else None,
        "rounds": lambda row: row.times.number if row.times else None,
    }


def settings_of(
    title: str,
    *,
    headline: str,
    rows: Sequence[FoundRow],
    columns: Columns,
    recommended: Mapping[str, Any] | None,
    code: str,
    notes: Sequence[str],
    deadline: Deadline,
) -> FoundSettings:
    """Return what was found, with its page.

    Args:
        title: What was looked for.
        headline: The sentence to read.
        rows: One a setting.
        columns: What stands in the table, by the names of its columns.
        recommended: The setting to take, or None.
        code: The line to paste, or nothing.
        notes: What else is to be known.
        deadline: By which the search went.
    """
    blocks = tuple(_blocks(headline, rows, columns, recommended=recommended, code=code, notes=notes))
    return FoundSettings(
        rows=tuple(rows),
        recommended=recommended,
        code=code,
        notes=tuple(notes),
        seconds=deadline.passed,
        page=Page(title=title, blocks=blocks),
    )


def _blocks(
    headline: str,
    rows: Sequence[FoundRow],
    columns: Columns,
    *,
    recommended: Mapping[str, Any] | None,
    code: str,
    notes: Sequence[str],
) -> Iterator[Block]:
    yield Text(text=headline, strong=True)
    if code:
        yield Code(text=code)
    known = [row for row in rows if not row.failure]
    if known:
        yield _table(known, columns, recommended)
    failed = [row for row in rows if row.failure]
    if failed:
        yield Text(text=_FAILURE_ROWS)
        yield Facts(rows=[(written(row.setting), row.failure) for row in failed])
    for note in notes:
        yield Text(text=note)


def _table(rows: Sequence[FoundRow], columns: Columns, recommended: Mapping[str, Any] | None) -> Table:
    first = rows[0].setting
    # what is the same in all rows need not be read, unless nothing else is there
    names = [name for name in first if len({row.setting[name] for row in rows}) > 1] or [next(iter(first))]
    cells = [
        [
            *(row.setting[name] for name in names),
            _verdict(row, recommended),
            *(cell(row) for cell in columns.values()),
        ]
        for row in rows
    ]
    return Table(columns=[*(_NAMES.get(name, name) for name in names), "", *columns], rows=cells)


def _verdict(row: FoundRow, recommended: Mapping[str, Any] | None) -> str:
    is_it = recommended is not None and all(recommended.get(name) == each for name, each in row.setting.items())
    return f"{row.verdict} ← take this" if is_it else row.verdict


def written(setting: Mapping[str, Any]) -> str:
    """Return a setting as it is written in a call, without what is left at None.

    Examples:
        >>> written({"num_workers": 2, "prefetch_factor": None})
        'num_workers=2'
    """
    return ", ".join(f"{name}={value!r}" for name, value in setting.items() if value is not None)
