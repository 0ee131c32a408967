"""This file is the page of a profile's modules: a tree with their times, and the same as an icicle."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from torchmagic.analyses.profile_window import Window, profile_window
from torchmagic.records.costs import ModuleCost
from torchmagic.session.run import Run
from torchmagic.views.folded_tree import Folding, Node, TreeRow, folded_rows, tree_of
from torchmagic.views.numbers import byte_unit
from torchmagic.views.page import Block, Box, Cell, Flame, Page, Table, Text
from torchmagic.views.profile_likes import dearer_than_their_likes
from torchmagic.views.profile_words import (
    as_time,
    in_unit,
    operation_size,
    per_step,
    percent,
    three_digits,
    time_unit,
)

ModuleRow = TreeRow[ModuleCost]

# Deeper boxes are too narrow to be read, and so are those of a smaller share of the whole.
_MOST_LEVELS = 10
_LEAST_SHARE = 0.001
_SUMMED = "A row of several modules is their sum, and so are the rows below it."
_MARKED = "Marked: more than twice what the modules beside it of the same class take."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    name: str
    cell: Callable[[ModuleCost], Cell]


def profile_modules_page(run: Run) -> Page:
    """Return what each module cost, forward and backward; a page without blocks where that is not known."""
    window = profile_window(run)
    blocks = [] if window is None else list(_blocks(window))
    return Page(title="Modules", blocks=blocks)


def _blocks(window: Window) -> Iterator[Block]:
    called = [each for each in window.costs.modules if each.calls or _seconds(each)]
    models = {model: [each for each in called if each.model == model] for model in dict.fromkeys(_models(called))}
    trees = {model: tree_of(_rooted(modules)) for model, modules in models.items()}
    if not trees:
        return
    rows: list[ModuleRow] = []
    for model, top in trees.items():
        label = f"{model}: {top.part.class_name}" if model else top.part.class_name
        marked = dearer_than_their_likes(top, _seconds)
        rows += folded_rows(top, label=label, folding=Folding(facts=_facts, merged=_merged, marked=marked))
    yield from _table(window, rows)
    if any(row.count > 1 for row in rows):
        yield Text(text=_SUMMED)
    if any(row.is_marked for row in rows):
        yield Text(text=_MARKED)
    least = _LEAST_SHARE * sum(_seconds(top.part) for top in trees.values())
    boxes = [_box(window, top, model or top.part.class_name, least=least) for model, top in trees.items()]
    yield Flame(title=f"Forward and backward by module, {per_step(window)}", boxes=boxes, unit="s")


def _models(modules: Sequence[ModuleCost]) -> Iterator[str]:
    return (each.model for each in modules)


def _rooted(modules: list[ModuleCost]) -> list[ModuleCost]:
    """Return modules with a root in front: where only parts of a model were called, their sum stands for it."""
    if modules[0].path == "":
        return modules
    paths = {each.path for each in modules}
    tops = [each for each in modules if not any(path in paths for path in _around(each.path))]
    root = replace(_merged(tops), path="", class_name="called in parts", calls=0, forward_own=0.0, backward_own=0.0)
    return [root, *modules]


def _around(path: str) -> Iterator[str]:
    while path:
        path = path.rpartition(".")[0]
        yield path


def _seconds(module: ModuleCost) -> float:
    return module.forward + module.backward


def _facts(module: ModuleCost) -> object:
    return module.class_name, module.dtype


def _merged(parts: Sequence[ModuleCost]) -> ModuleCost:
    return replace(
        parts[0],
        calls=sum(each.calls for each in parts),
        forward=sum(each.forward for each in parts),
        forward_own=sum(each.forward_own for each in parts),
        backward=sum(each.backward for each in parts),
        backward_own=sum(each.backward_own for each in parts),
        device=_sum([each.device for each in parts]),
        flops=_whole([each.flops for each in parts]),
        allocated=_whole([each.allocated for each in parts]),
        kept=_whole([each.kept for each in parts]),
    )


def _sum(values: Sequence[float | None]) -> float | None:
    known = [each for each in values if each is not None]
    return sum(known) if known else None


def _whole(values: Sequence[int | None]) -> int | None:
    known = [each for each in values if each is not None]
    return sum(known) if known else None


def _table(window: Window, rows: list[ModuleRow]) -> Iterator[Block]:
    size, unit = time_unit(window.per_step(_seconds(row.part)) for row in rows)
    title = f"Time by module, {unit} {per_step(window)}"
    found = [*_times(window, size, unit), *_amounts(window, [row.part for row in rows])]
    columns = [each for each in found if any(each.cell(row.part) for row in rows)]
    yield Table(
        title=title,
        columns=["module", *(each.name for each in columns)],
        rows=[[row.label, *(each.cell(row.part) for each in columns)] for row in rows],
        marked=frozenset(index for index, row in enumerate(rows) if row.is_marked),
    )


def _times(window: Window, size: float, unit: str) -> Iterator[_Column]:
    def time(seconds: float | None) -> Cell:
        return None if seconds is None else in_unit(window.per_step(seconds), size)

    def a_call(module: ModuleCost) -> Cell:
        return in_unit(_seconds(module) / module.calls, size) if module.calls else None

    def calls(module: ModuleCost) -> Cell:
        return three_digits(window.per_step(module.calls)) if module.calls else None

    yield _Column(name="total", cell=lambda each: time(_seconds(each)))
    yield _Column(name="share %", cell=lambda each: percent(window.share(_seconds(each))))
    yield _Column(name="forward", cell=lambda each: time(each.forward))
    yield _Column(name="own forward", cell=lambda each: time(each.forward_own))
    yield _Column(name="backward", cell=lambda each: time(each.backward))
    yield _Column(name="own backward", cell=lambda each: time(each.backward_own))
    yield _Column(name="calls", cell=calls)
    yield _Column(name=f"{unit} a call", cell=a_call)
    yield _Column(name="kernels", cell=lambda each: time(each.device))


def _amounts(window: Window, modules: Sequence[ModuleCost]) -> Iterator[_Column]:
    operations, operation_unit = operation_size(
        max((window.per_step(each.flops or 0) for each in modules), default=0.0)
    )
    held, held_unit = byte_unit(max((window.per_step(each.allocated or 0) for each in modules), default=0.0))

    def amount(number: int | None, per: float) -> Cell:
        return None if number is None else in_unit(window.per_step(number), per)

    yield _Column(name=operation_unit, cell=lambda each: amount(each.flops, operations))
    yield _Column(name=f"allocated {held_unit}", cell=lambda each: amount(each.allocated, held))
    yield _Column(name=f"kept {held_unit}", cell=lambda each: amount(each.kept, held))


def _called(node: Node[ModuleCost]) -> str:
    """Return a module's name; a number alone says too little."""
    return f"{node.name}: {node.part.class_name}" if node.name.isdecimal() else node.name


def _box(window: Window, node: Node[ModuleCost], name: str, *, least: float, level: int = 1) -> Box:
    part = node.part
    both = f"forward {as_time(window.per_step(part.forward))}, backward {as_time(window.per_step(part.backward))}"
    seen = [child for child in node.children if _seconds(child.part) >= least] if level < _MOST_LEVELS else []
    parts = [_box(window, child, _called(child), least=least, level=level + 1) for child in seen]
    seconds = three_digits(window.per_step(_seconds(part)))
    return Box(name=name, amount=seconds, parts=parts, told=f"{part.class_name}, {both}")
