"""This file is the tree of a model as rows of a table: neighbours that are alike stand in one row."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from torchmagic.records.modelinfo import ModulePart

_NUMBER = re.compile(r"\d+")
# The widths of ordinary spaces would be lost in html.
_BRANCH, _LAST, _PASSING, _EMPTY = "├─\u00a0", "└─\u00a0", "│\u00a0\u00a0", "\u00a0\u00a0\u00a0"


@dataclass(slots=True)
class _Node:
    name: str
    part: ModulePart
    children: list["_Node"] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeRow:
    """One row: a module, or several alike in a row.

    Args:
        label: Lines of the tree, name and class.
        part: The module; of several the first, with the mean of their times and of what autograd keeps.
        count: How many it stands for.
        depth: Levels below the root.
        is_repeated: Whether it stands below a row of several, and so for one of each.
        is_marked: Whether something about it should be looked at.
    """

    label: str
    part: ModulePart
    count: int = 1
    depth: int = 0
    is_repeated: bool = False
    is_marked: bool = False


def tree_rows(
    modules: Sequence[ModulePart], *, root: str = "", marked: frozenset[str] = frozenset(), depth: int | None = None
) -> list[TreeRow]:
    """Lay out a tree.

    Args:
        modules: Depth first, the root first.
        root: What to call the root; empty for its class alone.
        marked: Paths of modules that should be looked at; they are never folded away among others.
        depth: Levels below the root to show; None for all.
    """
    if not modules:
        return []
    top = _built(modules)
    label = f"{root}: {top.part.class_name}" if root else top.part.class_name
    first = TreeRow(label=label, part=top.part, is_marked="" in marked)
    return [first, *_rows(top.children, "", 1, marked, depth, is_repeated=False)]


def _built(modules: Sequence[ModulePart]) -> _Node:
    nodes: dict[str, _Node] = {}
    for part in modules:
        above, _, name = part.path.rpartition(".")
        nodes[part.path] = node = _Node(name or part.path, part)
        if part.path and above in nodes:
            nodes[above].children.append(node)
    return nodes[modules[0].path]


def _rows(
    nodes: list[_Node], lead: str, level: int, marked: frozenset[str], depth: int | None, *, is_repeated: bool
) -> Iterator[TreeRow]:
    if depth is not None and level > depth:
        return
    groups = list(_groups(nodes, marked))
    for index, group in enumerate(groups):
        is_last = index == len(groups) - 1
        node = _merged(group)
        yield TreeRow(
            label=lead + (_LAST if is_last else _BRANCH) + _named(group),
            part=node.part,
            count=len(group),
            depth=level,
            is_repeated=is_repeated,
            is_marked=node.part.path in marked,
        )
        below = lead + (_EMPTY if is_last else _PASSING)
        repeated = is_repeated or len(group) > 1
        if not node.part.shared_with:
            yield from _rows(node.children, below, level + 1, marked, depth, is_repeated=repeated)


def _named(group: list[_Node]) -> str:
    first, last = group[0], group[-1]
    if len(group) == 1:
        return f"{first.name}: {first.part.class_name}"
    return f"({first.name}..{last.name}): {len(group)} × {first.part.class_name}"


def _groups(nodes: list[_Node], marked: frozenset[str]) -> Iterator[list[_Node]]:
    group: list[_Node] = []
    before: object = None
    for node in nodes:
        # Neighbours of different names, such as encoder and decoder, are told apart even when they are alike.
        signature = (_NUMBER.sub("", node.name), _signature(node, marked))
        if group and signature != before:
            yield group
            group = []
        group.append(node)
        before = signature
    if group:
        yield group


def _signature(node: _Node, marked: frozenset[str]) -> object:
    """Return what two modules must have alike to stand in one row: all but names, times and what autograd keeps.

    What two modules share, the first one is said to keep, so that like modules keep different amounts.
    """
    part = node.part
    if part.path in marked:
        return part.path
    shared = "shared" if part.shared_with else ""
    facts = replace(part, path="", seconds=None, saved_bytes=None, shared_with=shared)
    return facts, tuple((child.name, _signature(child, marked)) for child in node.children)


def _merged(group: list[_Node]) -> _Node:
    first = group[0]
    if len(group) == 1:
        return first
    seconds = _mean([node.part.seconds for node in group])
    kept = _mean([node.part.saved_bytes for node in group])
    part = replace(first.part, seconds=seconds, saved_bytes=None if kept is None else round(kept))
    columns = zip(*(node.children for node in group), strict=True)
    return _Node(first.name, part, [_merged(list(each)) for each in columns])


def _mean(values: Sequence[float | None]) -> float | None:
    known = [each for each in values if each is not None]
    return sum(known) / len(known) if known else None
