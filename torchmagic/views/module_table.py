"""This file is the table of a model's modules: columns where they tell something, one row for several alike."""

from collections.abc import Callable
from dataclasses import dataclass

from torchmagic.records.modelinfo import ModelRecord
from torchmagic.views.module_tree import ModuleRow, tree_rows
from torchmagic.views.numbers import as_bytes, as_count, as_share
from torchmagic.views.page import Cell, Table

_FLOPS_PER_MAC = 2
_LONGEST = 22  # letters of a name or of shapes in the table of the tree


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    name: str
    cell: Callable[[ModuleRow], Cell]


def module_tables(record: ModelRecord, *, depth: int | None) -> tuple[Table, Table, bool]:
    """Return the table, one with what does not fit beside it, and whether rows stand for several modules.

    Args:
        record: The model.
        depth: Levels of the tree to show; None for all.
    """
    root = record.name if len(record.name) <= _LONGEST else ""
    rows = tree_rows(record.modules, root=root, marked=_marked(record), depth=depth)
    first = _Column(name="module", cell=lambda row: row.label)
    shown = _table(rows, [first, *_columns(record)])
    return shown, _table(rows, [first, *_more_columns()]), any(row.is_repeated for row in rows)


def _table(rows: list[ModuleRow], columns: list[_Column]) -> Table:
    told = [each for each in columns if any(each.cell(row) not in (None, "") for row in rows)]
    return Table(
        columns=[each.name for each in told],
        rows=[[each.cell(row) for each in told] for row in rows],
        marked=frozenset(index for index, row in enumerate(rows) if row.is_marked),
    )


def _marked(record: ModelRecord) -> frozenset[str]:
    """Return the paths of the modules that something wrong is said of."""
    paths = {part.path for part in record.modules}
    wrong = [name for each in record.concerns if each.is_wrong for name in each.names]
    marked = {name if name in paths else name.rpartition(".")[0] for name in wrong}
    if record.forward is not None and record.forward.error:
        marked.add(record.forward.failed_in)
    return frozenset(marked)


def _columns(record: ModelRecord) -> list[_Column]:
    root = record.modules[0]

    def operations(row: ModuleRow) -> Cell:
        return as_count(row.count * row.part.flops // _FLOPS_PER_MAC) if row.part.flops else None

    def time(row: ModuleRow) -> Cell:
        seconds = row.part.seconds
        return as_share(row.count * seconds / root.seconds) if seconds is not None and root.seconds else None

    return [
        _Column(name="input", cell=lambda row: _cut(row.part.inputs)),
        _Column(name="output", cell=lambda row: _cut(row.part.output)),
        _Column(name="parameters", cell=_parameters),
        _Column(name="mult-adds", cell=operations),
        _Column(name="time", cell=time),
        _Column(name="remarks", cell=lambda row: _remarks(row, usual=root.training)),
    ]


def _more_columns() -> list[_Column]:
    return [
        _Column(name="bytes", cell=lambda row: _size(row, row.part.num_bytes)),
        _Column(name="kept for backward", cell=lambda row: _size(row, row.part.saved_bytes)),
        _Column(name="settings", cell=lambda row: row.part.settings),
        _Column(name="input", cell=lambda row: row.part.inputs if _cut(row.part.inputs) != row.part.inputs else ""),
        _Column(name="output", cell=lambda row: row.part.output if _cut(row.part.output) != row.part.output else ""),
    ]


def _cut(shapes: str) -> str:
    """Leave room for the tree; the whole stands in the second table."""
    return shapes if len(shapes) <= _LONGEST else f"{shapes[: _LONGEST - 1].rstrip(', ')}…"


def _size(row: ModuleRow, size: int | None) -> str:
    return as_bytes(row.count * size) if size and not row.part.shared_with else ""


def _parameters(row: ModuleRow) -> Cell:
    return row.count * row.part.num_parameters if row.part.num_parameters and not row.part.shared_with else None


def _remarks(row: ModuleRow, *, usual: bool) -> str:
    part, told = row.part, []
    if part.shared_with:
        return f"same as {part.shared_with}"
    if part.num_parameters and not part.num_trainable:
        told.append("frozen")
    elif part.num_trainable < part.num_parameters and row.depth:
        told.append("partly frozen")
    if part.training != usual:
        told.append("training mode" if part.training else "evaluation mode")
    if part.is_used is False:
        told.append("never used" if part.num_bytes else "never called")
    elif part.calls is not None and part.calls > 1:
        told.append(f"called {part.calls:,} times")
    elif part.calls == 0 and part.is_used and part.has_own:
        told.append("weights read directly")
    return ", ".join(told)
