"""This file is the tree of a model as rows of a table."""

from collections.abc import Sequence
from dataclasses import replace

from torchmagic.records.modelinfo import ModulePart
from torchmagic.views.folded_tree import Folding, TreeRow, folded_rows, tree_of

ModuleRow = TreeRow[ModulePart]


def tree_rows(
    modules: Sequence[ModulePart], *, root: str = "", marked: frozenset[str] = frozenset(), depth: int | None = None
) -> list[ModuleRow]:
    """Lay out a tree; several alike are one row, the first with the mean of their times and of what autograd keeps.

    Args:
        modules: Depth first, the root first.
        root: What to call the root; empty for its class alone.
        marked: Paths of modules that should be looked at; they are never folded away among others.
        depth: Levels below the root to show; None for all.
    """
    if not modules:
        return []
    top = tree_of(modules)
    label = f"{root}: {top.part.class_name}" if root else top.part.class_name
    folding = Folding(
        facts=_facts, merged=_merged, marked=marked, depth=depth, is_leaf=lambda part: bool(part.shared_with)
    )
    return folded_rows(top, label=label, folding=folding)


def _facts(part: ModulePart) -> ModulePart:
    """Return what two modules must have alike to stand in one row: all but names, times and what autograd keeps.

    What two modules share, the first one is said to keep, so that like modules keep different amounts.
    """
    shared = "shared" if part.shared_with else ""
    return replace(part, path="", seconds=None, saved_bytes=None, shared_with=shared)


def _merged(parts: Sequence[ModulePart]) -> ModulePart:
    kept = _mean([part.saved_bytes for part in parts])
    seconds = _mean([part.seconds for part in parts])
    return replace(parts[0], seconds=seconds, saved_bytes=None if kept is None else round(kept))


def _mean(values: Sequence[float | None]) -> float | None:
    known = [each for each in values if each is not None]
    return sum(known) / len(known) if known else None
