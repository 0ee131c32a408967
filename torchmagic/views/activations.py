"""This file is the view of a run's activations: what each innermost module gives, in the order in which they run."""

from collections.abc import Sequence

from torchmagic.analyses.columns import ENOUGH, is_wide
from torchmagic.analyses.modules import ModuleRow, modules
from torchmagic.records.activation import ActivationRecord, TensorFacts
from torchmagic.session.run import Run, Status
from torchmagic.views.numbers import as_shape
from torchmagic.views.page import Block, Cell, Fold, Page, Table, Text, Trend

COLUMNS = (("mean", "mean"), ("std", "std"))
AFTER_COURSE = (("abs max", "abs_max"), ("zeros", "zero_share"))
ALARMS = (("saturated", "saturation"), ("dead", "dead_share"))
SAID = {
    "saturated": "Saturated: share of the values where the function is flat.",
    "dead": "Dead: share of the units that gave zero for every sample of the batches looked at.",
    "bad values": "Bad values: most that were NaN or infinite at one step.",
}


def activations_page(run: Run) -> Page:
    """Return the table of modules, and, folded, what each takes and gives.

    Rows that a finding names, or that gave values that are not finite, are marked.
    """
    rows = modules(run)
    if not any(row.latest for row in rows):
        return Page(title="Activations", blocks=[])
    named = {finding.module for finding in run.findings}
    marked = frozenset(i for i, row in enumerate(rows) if row.module in named or row.num_nonfinite > 0)
    table = _table(rows, marked)
    blocks: list[Block] = [Text(text=_lead(rows)), table]
    said = [SAID[title] for title in table.columns if title in SAID]
    if said:
        blocks.append(Text(text=" ".join(said)))
    signatures = _signatures(run)
    # a live panel is sent whole at each refresh, and these do not change
    if signatures.rows and run.status is not Status.RUNNING:
        blocks.append(Fold(title="What each module takes and gives", blocks=[signatures]))
    return Page(title="Activations", blocks=blocks, folded=True)


def _table(rows: Sequence[ModuleRow], marked: frozenset[int]) -> Table:
    columns: list[tuple[str, list[Cell]]] = [
        ("module", [row.module for row in rows]),
        ("class", [row.class_name for row in rows]),
        ("output", [as_shape(row.output.shape) if row.output else "" for row in rows]),
    ]
    columns += [(title, _column(rows, key)) for title, key in COLUMNS]
    trends: list[Cell] = [_trend(row) for row in rows]
    columns.append(("std over steps", trends))
    columns += [(title, _column(rows, key)) for title, key in AFTER_COURSE]
    columns += [(title, _column(rows, key)) for title, key in ALARMS if any(row.latest.get(key) for row in rows)]
    if any(row.num_nonfinite for row in rows):
        # of calls of functions only silent units are counted
        bad: list[Cell] = [row.num_nonfinite if set(row.latest) - {"dead_share"} else None for row in rows]
        columns.append(("bad values", bad))
    kept = [(title, cells) for title, cells in columns if any(cell not in (None, "") for cell in cells)]
    lines = [list(cells) for cells in zip(*(cells for _, cells in kept), strict=True)]
    return Table(columns=[title for title, _ in kept], rows=lines, marked=marked)


def _column(rows: Sequence[ModuleRow], key: str) -> list[Cell]:
    return [row.latest.get(key) for row in rows]


def _trend(row: ModuleRow) -> Trend | None:
    values = list(row.course)
    return Trend(values=values, log=is_wide(values)) if len(values) >= ENOUGH else None


def _lead(rows: Sequence[ModuleRow]) -> str:
    told = ["One innermost module." if len(rows) == 1 else f"{len(rows)} innermost modules, in the order they ran in."]
    dead = sum(row.latest.get("dead_share", 0.0) > 0 for row in rows)
    lost = sum(row.num_nonfinite > 0 for row in rows)
    if dead:
        told.append(f"{dead} {'has' if dead == 1 else 'have'} dead units.")
    if lost:
        told.append(f"{lost} of them gave NaN or infinity.")
    return " ".join(told)


def _signatures(run: Run) -> Table:
    rows = [
        (record.module, record.class_name, _told(record.inputs), _told(record.outputs))
        for record in run.of(ActivationRecord)
    ]
    return Table(columns=("module", "class", "takes", "gives"), rows=list(dict.fromkeys(rows)))


def _told(tensors: Sequence[TensorFacts]) -> str:
    """Write shapes and types; the device only where it is not the CPU."""
    return ", ".join(
        f"{as_shape(each.shape)} {each.dtype}{'' if each.device == 'cpu' else f' on {each.device}'}" for each in tensors
    )
