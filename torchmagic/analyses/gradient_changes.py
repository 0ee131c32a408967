"""This file finds the lines that change by hand what a backward has left in ``.grad``."""

import ast
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet

from torchmagic.analyses.gradient_lines import beneath, empties, is_gradient_beneath, line_between
from torchmagic.analyses.syntax import last_name, tree_of

# Methods in place that leave the values as they are.
_KEEPING = frozenset({"requires_grad_", "detach_", "retain_grad_", "share_memory_"})


def changed_between(source: str, first: int, last: int) -> int | None:
    """Return the line after ``first``, and up to ``last`` where that comes later, that changes gradients by hand.

    Of several it is the one that divides; lines that clip count only where no other does, for clipping makes no finite
    gradient infinite.

    Args:
        source: Source of the cell or file.
        first: Line of the backward; 0 where it is not in the same function as the step.
        last: Line of the step.
    """
    nodes = list(ast.walk(tree_of(source)))
    names = _names_holding(nodes)
    code = [each for each in nodes if isinstance(each, ast.stmt | ast.expr)]
    changing = [each for each in code if _changes(each, names)]
    dividing = [each for each in changing if any(map(_divides, ast.walk(each)))]
    clipping = [each for each in code if isinstance(each, ast.Call) and _clips(each)]
    kinds = (sorted({each.lineno for each in kind}) for kind in (dividing, changing, clipping))
    found = (line_between(source, lines, first, last) for lines in kinds)
    return next((line for line in found if line is not None), None)


def _names_holding(nodes: Iterable[ast.AST]) -> AbstractSet[str]:
    """Return the names that stand for a gradient, or for a list of them."""
    bound = [pair for node in nodes for pair in _bindings(node)]
    names: set[str] = set()
    for _ in range(2):  # a loop over a list may stand before the list's own line
        names |= {target.id for target, value in bound if isinstance(target, ast.Name) and _holds(value, names)}
    return names


def _bindings(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield each name that a statement binds with what it is bound to, or to an item of."""
    if isinstance(node, ast.Assign):
        yield from ((target, node.value) for target in node.targets)
    elif isinstance(node, ast.For | ast.comprehension):
        yield node.target, node.iter
        zipped = isinstance(node.iter, ast.Call) and last_name(node.iter.func) == "zip"
        if zipped and isinstance(node.iter, ast.Call) and isinstance(node.target, ast.Tuple):
            yield from zip(node.target.elts, node.iter.args, strict=False)


def _holds(value: ast.expr, names: AbstractSet[str]) -> bool:
    inside = value.elt if isinstance(value, ast.ListComp | ast.GeneratorExp) else value
    parts = inside.elts if isinstance(inside, ast.List | ast.Tuple) else [inside]
    return any(_is_held(each, names) for each in parts)


def _is_held(value: ast.expr, names: AbstractSet[str]) -> bool:
    under = beneath(value)
    return is_gradient_beneath(value) or (isinstance(under, ast.Name) and under.id in names)


def _changes(node: ast.AST, names: AbstractSet[str]) -> bool:
    if empties(node):
        return False
    if isinstance(node, ast.AugAssign):
        return _is_held(node.target, names)
    if isinstance(node, ast.Assign):  # to bind a name anew changes nothing that it stood for
        return any(not isinstance(each, ast.Name) and _is_held(each, names) for each in node.targets)
    if not isinstance(node, ast.Call) or not _is_in_place(last_name(node.func)):
        return False
    if isinstance(node.func, ast.Attribute) and not node.func.attr.startswith("_foreach_"):
        return _is_held(node.func.value, names)
    return any(_holds(each, names) for each in node.args[:1])


def _is_in_place(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__") and name not in _KEEPING


def _divides(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return any(word in last_name(node.func) for word in ("div", "reciprocal", "rsqrt", "normalize"))
    return isinstance(node, ast.Div)


def _clips(call: ast.Call) -> bool:
    return last_name(call.func).startswith("clip_grad")
