"""This file is the view of one parameter: its courses over the steps, and how its values are spread."""

from torchmagic.records.snapshot import SnapshotKind, SnapshotRecord
from torchmagic.session.run import Run
from torchmagic.views.curves import WIDE
from torchmagic.views.page import Bars, Block, Line, Page, Plot

COURSES = (("gradient norm", "grad_norm"), ("update ratio", "update_ratio"))
SPREADS = {SnapshotKind.WEIGHT: "weights", SnapshotKind.GRADIENT: "gradient"}


def parameter_page(run: Run, parameter: str) -> Page:
    """Return what is known of a parameter by itself; nothing where the name is unknown.

    Args:
        run: A run, ended or not.
        parameter: Full name, such as ``net.0.weight``.
    """
    blocks: list[Block] = [
        Plot(title=title, lines=[line], log=_is_wide(line))
        for title, line in ((title, _line(run, metric, parameter, title)) for title, metric in COURSES)
        if line.steps
    ]
    newest = {each.what: each for each in run.of(SnapshotRecord) if each.subject == parameter}
    for what, said in SPREADS.items():
        histogram = newest[what].histogram if what in newest else None
        if histogram is not None:
            title = f"{said} at step {newest[what].step}"
            blocks.append(Bars(title=title, edges=histogram.edges, counts=histogram.counts))
    return Page(title=parameter, blocks=blocks)


def _line(run: Run, metric: str, parameter: str, title: str) -> Line:
    steps, values = run.series(metric, parameter=parameter)
    return Line(name=title, steps=steps, values=values)


def _is_wide(line: Line) -> bool:
    positive = [value for value in line.values if 0 < value < float("inf")]
    return len(positive) == len(line.values) and max(positive) > WIDE * min(positive)
