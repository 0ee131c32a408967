"""This file is the parameters of several runs beside each other: weights, gradients and updates at their ends."""

from collections.abc import Iterator, Sequence

from torchmagic.analyses.parameter_difference import (
    METRICS,
    ParameterChange,
    parameter_changes,
    parameter_shapes,
)
from torchmagic.session.run import Run
from torchmagic.views.change import as_change
from torchmagic.views.numbers import as_number, as_shape
from torchmagic.views.page import Block, Cell, Table, Text

TITLES = {"weight_norm": "weight norm", "grad_norm": "gradient norm", "update_ratio": "update ratio"}
MOST_NAMES = 6
DIGITS = 3  # the change beside them says the rest


def parameter_blocks(runs: Sequence[Run], names: Sequence[str]) -> list[Block]:
    """Return the parameters that differ between the first run and each other one, those that differ most first."""
    blocks: list[Block] = []
    for run, name in zip(runs[1:], names[1:], strict=True):
        blocks += _against(runs[0], run, names[0], name)
    return blocks


def _against(run: Run, other: Run, name: str, other_name: str) -> Iterator[Block]:
    changes = parameter_changes(run, other)
    if changes:
        metrics = [metric for metric in METRICS if any(metric in change.values for change in changes)]
        rows: list[list[Cell]] = [
            [change.name, _shape(change), *(_told(change, metric) for metric in metrics)] for change in changes
        ]
        yield Table(
            title=f"Parameters at the end, {name} → {other_name}, those that differ most first",
            columns=["parameter", "shape", *(TITLES[metric] for metric in metrics)],
            rows=rows,
        )
    ours, theirs = parameter_shapes(run), parameter_shapes(other)
    for whose, here, there in ((name, ours, theirs), (other_name, theirs, ours)):
        alone = [each for each in here if each not in there]
        if alone and there:
            more = f" and {len(alone) - MOST_NAMES} more" if len(alone) > MOST_NAMES else ""
            yield Text(text=f"Parameters only in {whose}: {', '.join(alone[:MOST_NAMES])}{more}.")


def _shape(change: ParameterChange) -> str:
    before, after = map(as_shape, change.shapes)
    return before if before == after else f"{before} → {after}"


def _told(change: ParameterChange, metric: str) -> str:
    if metric not in change.values:
        return ""
    before, after = change.values[metric]
    if before == after:
        return f"{as_number(before)}, the same"
    said = as_change(before, after)
    ends = " → ".join(as_number(float(f"{value:.{DIGITS}g}")) for value in (before, after))
    return ends + (f" ({said})" if said else "")
