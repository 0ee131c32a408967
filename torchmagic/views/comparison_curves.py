"""This file is the curves of several runs on shared axes."""

from collections.abc import Callable, Iterator, Sequence

from torchmagic.session.run import Run
from torchmagic.views.curves import is_wide
from torchmagic.views.page import Block, Line, Plot
from torchmagic.views.schedule import held

# Of each run so many subjects of a metric are drawn; more lines cannot be told apart.
MOST_SUBJECTS = 3


def curve_plots(runs: Sequence[Run], names: Sequence[str]) -> list[Block]:
    """Return loss, evaluation loss, gradient norm and, where one moves, learning rate, each with all runs in it."""
    return list(_plots(runs, names))


def _plots(runs: Sequence[Run], names: Sequence[str]) -> Iterator[Block]:
    drawn: tuple[tuple[str, Callable[[Run], list[Line]]], ...] = (
        ("loss", lambda run: _lines(run, "loss")),
        ("evaluation loss", lambda run: _lines(run, "eval_loss")),
        ("gradient norm", _norm),
    )
    for title, lines_of in drawn:
        lines = _called([lines_of(run) for run in runs], names)
        if lines:
            yield Plot(title=title, lines=lines, log=is_wide(lines))
    rates = [_rates(run) for run in runs]
    if any(len(set(line.values)) > 1 for each in rates for line in each):
        lines = _called(rates, names)
        yield Plot(title="learning rate", lines=lines, log=is_wide(lines))


def _lines(run: Run, metric: str) -> list[Line]:
    found = [(name, *run.series(metric, name=name)) for name in run.subjects(metric)[:MOST_SUBJECTS]]
    return [Line(name=name, steps=steps, values=values) for name, steps, values in found if steps]


def _norm(run: Run) -> list[Line]:
    steps, values = run.series("grad_norm", name="")
    return [Line(name="", steps=steps, values=values)] if steps else []


def _rates(run: Run) -> list[Line]:
    return [held(name, *run.series("lr", name=name), run.steps) for name in run.subjects("lr")[:MOST_SUBJECTS]]


def _called(found: Sequence[Sequence[Line]], names: Sequence[str]) -> list[Line]:
    """Return all lines, each by its run's name, and by its own only where a run has several."""
    return [
        Line(name=f"{name}, {line.name}" if len(lines) > 1 else name, steps=line.steps, values=line.values)
        for lines, name in zip(found, names, strict=True)
        for line in lines
    ]
