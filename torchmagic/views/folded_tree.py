"""This file is a tree of modules as rows: neighbours that are alike stand in one row."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

_NUMBER = re.compile(r"\d+")
# The widths of ordinary spaces would be lost in html.
_BRANCH, _LAST, _PASSING, _EMPTY = "├─\u00a0", "└─\u00a0", "│\u00a0\u00a0", "\u00a0\u00a0\u00a0"


class Part(Protocol):
    """A module as far as the tree has to know it."""

    @property
    def path(self) -> str:
        """Its path, empty for the root."""

    @property
    def class_name(self) -> str:
        """Its class."""


P = TypeVar("P", bound=Part)


@dataclass(slots=True)
class Node(Generic[P]):
    """A module with what is in it; ``name`` is its path below the node around it."""

    name: str
    part: P
    children: list["Node[P]"] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeRow(Generic[P]):
    """One row: a module, or several alike in a row.

    Args:
        label: Lines of the tree, name and class.
        part: The module; what ``Folding.merged`` makes of several.
        count: How many it stands for.
        depth: Levels below the root.
        is_repeated: Whether it stands below a row of several.
        is_marked: Whether something about it should be looked at.
    """

    label: str
    part: P
    count: int = 1
    depth: int = 0
    is_repeated: bool = False
    is_marked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Folding(Generic[P]):
    """How modules are laid together.

    Args:
        facts: What two modules must have alike, beside the modules in them, to stand in one row.
        merged: Makes one module of several alike.
        marked: Paths of modules that should be looked at; they are never folded away among others.
        depth: Levels below the root to show; None for all.
        is_leaf: Whether what is in a module is told elsewhere.
    """

    facts: Callable[[P], object]
    merged: Callable[[Sequence[P]], P]
    marked: frozenset[str] = frozenset()
    depth: int | None = None
    is_leaf: Callable[[P], bool] = lambda _: False


def tree_of(modules: Sequence[P]) -> Node[P]:
    """Return modules, the root first, as a tree; where the module around one is missing, it goes under the next one."""
    nodes: dict[str, Node[P]] = {}
    for part in modules:
        above = part.path.rpartition(".")[0]
        while above and above not in nodes:
            above = above.rpartition(".")[0]
        nodes[part.path] = node = Node(part.path[len(above) :].lstrip(".") or part.path, part)
        if part.path and above in nodes:
            nodes[above].children.append(node)
    return nodes[modules[0].path]


def folded_rows(top: Node[P], *, label: str, folding: Folding[P]) -> list[TreeRow[P]]:
    """Lay out a tree, the root first.

    Args:
        top: The tree.
        label: What to call the root.
        folding: What is laid together.
    """
    first = TreeRow(label=label, part=top.part, is_marked="" in folding.marked)
    return [first, *_rows(top.children, "", 1, folding, is_repeated=False)]


def _rows(
    nodes: list[Node[P]], lead: str, level: int, folding: Folding[P], *, is_repeated: bool
) -> Iterator[TreeRow[P]]:
    if folding.depth is not None and level > folding.depth:
        return
    groups = list(_groups(nodes, folding))
    for index, group in enumerate(groups):
        is_last = index == len(groups) - 1
        node = _merged(group, folding)
        yield TreeRow(
            label=lead + (_LAST if is_last else _BRANCH) + _named(group),
            part=node.part,
            count=len(group),
            depth=level,
            is_repeated=is_repeated,
            is_marked=node.part.path in folding.marked,
        )
        below = lead + (_EMPTY if is_last else _PASSING)
        repeated = is_repeated or len(group) > 1
        if not folding.is_leaf(node.part):
            yield from _rows(node.children, below, level + 1, folding, is_repeated=repeated)


def _named(group: list[Node[P]]) -> str:
    first, last = group[0], group[-1]
    if len(group) == 1:
        return f"{first.name}: {first.part.class_name}"
    return f"({first.name}..{last.name}): {len(group)} × {first.part.class_name}"


def _groups(nodes: list[Node[P]], folding: Folding[P]) -> Iterator[list[Node[P]]]:
    group: list[Node[P]] = []
    before: object = None
    for node in nodes:
        # Neighbours of different names, such as encoder and decoder, are told apart even when they are alike.
        signature = (_NUMBER.sub("", node.name), _signature(node, folding))
        if group and signature != before:
            yield group
            group = []
        group.append(node)
        before = signature
    if group:
        yield group


def _signature(node: Node[P], folding: Folding[P]) -> object:
    if node.part.path in folding.marked:
        return node.part.path
    return folding.facts(node.part), tuple((child.name, _signature(child, folding)) for child in node.children)


def _merged(group: list[Node[P]], folding: Folding[P]) -> Node[P]:
    first = group[0]
    if len(group) == 1:
        return first
    columns = zip(*(node.children for node in group), strict=True)
    part = folding.merged([node.part for node in group])
    return Node(first.name, part, [_merged(list(each), folding) for each in columns])
