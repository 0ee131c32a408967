"""This file is the page of a profile's operators: what torch spent its time in, and for whom."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torchmagic.analyses.profile_window import Window, profile_window
from torchmagic.records.costs import OperatorCost
from torchmagic.session.run import Run
from torchmagic.views.numbers import as_share, byte_unit
from torchmagic.views.page import Block, Cell, Page, Table, Text
from torchmagic.views.profile_words import (
    PHASE_NAMES,
    as_time,
    in_unit,
    operation_size,
    per_step,
    percent,
    place_name,
    short_name,
    three_digits,
    time_unit,
)

MOST_ROWS = 40
SORTS: Mapping[str, Callable[[OperatorCost], float]] = {
    "own": lambda each: each.own,
    "total": lambda each: each.total,
    "calls": lambda each: each.calls,
    "device": lambda each: each.device or 0.0,
    "memory": lambda each: each.allocated or 0,
    "flops": lambda each: each.flops or 0,
}
_SORTED_BY = {
    "own": "own time",
    "total": "time with the operators that each calls",
    "calls": "calls",
    "device": "time of kernels",
    "memory": "memory",
    "flops": "operations",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    name: str
    cell: Callable[[OperatorCost], Cell]


def profile_operators_page(run: Run) -> Page:
    """Return the operators by own time, or as the run's settings ``sort_by`` and ``top`` ask.

    A page without blocks stands for a run without them.
    """
    window = profile_window(run)
    blocks = [] if window is None else list(_blocks(window, run.settings))
    return Page(title="Operators", blocks=blocks)


def _blocks(window: Window, settings: Mapping[str, Any]) -> Iterator[Block]:
    sort = str(settings.get("sort_by") or "own")
    sort = sort if sort in SORTS else "own"
    found = sorted(window.costs.operators, key=lambda each: -SORTS[sort](each))
    if not found:
        return
    first = max(found, key=lambda each: each.own)
    own = sum(each.own for each in found)
    phase = PHASE_NAMES.get(first.phase, first.phase)
    share, together = as_share(window.share(first.own)), as_share(window.share(own))
    yield Text(
        text=f"{first.name} in {phase} takes {share} of the time; all operators together {together}.", strong=True
    )
    top = settings.get("top")
    shown = found[: top if isinstance(top, int) and top > 0 else MOST_ROWS]
    yield _table(window, shown, f"Operators by {_SORTED_BY[sort]}, {per_step(window)}")
    rest = found[len(shown) :]
    if rest:
        left = f"{as_time(window.per_step(sum(each.own for each in rest)))} {per_step(window)}"
        yield Text(text=f"{len(rest):,} more {'operator takes' if len(rest) == 1 else 'operators take'} {left}.")


def _table(window: Window, shown: Sequence[OperatorCost], title: str) -> Table:
    columns = [each for each in _columns(window, shown) if any(each.cell(one) not in (None, "") for one in shown)]
    rows = [[short_name(each.name), *(column.cell(each) for column in columns)] for each in shown]
    return Table(title=title, columns=["operator", *(each.name for each in columns)], rows=rows)


def _columns(window: Window, shown: Sequence[OperatorCost]) -> list[_Column]:
    size, unit = time_unit(window.per_step(each.total) for each in shown)
    call_size, call_unit = time_unit(each.own / each.calls for each in shown if each.calls)
    most = max((window.per_step(each.flops or 0) for each in shown), default=0.0)
    operations, operation_unit = operation_size(most)
    held, held_unit = byte_unit(max((window.per_step(each.allocated or 0) for each in shown), default=0.0))

    def time(seconds: float | None) -> Cell:
        return None if seconds is None else in_unit(window.per_step(seconds), size)

    def amount(number: int | None, per: float) -> Cell:
        return in_unit(window.per_step(number), per) if number else None

    return [
        _Column(name=f"own {unit}", cell=lambda each: time(each.own)),
        _Column(name="share %", cell=lambda each: percent(window.share(each.own))),
        _Column(name="calls", cell=lambda each: three_digits(window.per_step(each.calls))),
        _Column(name="phase", cell=lambda each: each.phase),
        _Column(name="most of it in", cell=lambda each: each.module),
        _Column(name="line", cell=lambda each: place_name(window, each.place)),
        _Column(
            name=f"{call_unit} a call",
            cell=lambda each: in_unit(each.own / each.calls, call_size) if each.calls else None,
        ),
        _Column(name=f"total {unit}", cell=lambda each: time(each.total)),
        _Column(name=f"kernels {unit}", cell=lambda each: time(each.device)),
        _Column(name="shapes", cell=lambda each: each.shapes),
        _Column(name="dtype", cell=lambda each: each.dtype),
        _Column(name=operation_unit, cell=lambda each: amount(each.flops, operations)),
        _Column(name=held_unit, cell=lambda each: amount(each.allocated, held)),
    ]
