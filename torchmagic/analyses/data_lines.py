"""This file finds the lines from which a model's input comes: where it is fetched, and where its data are made."""

import ast
import re
from collections.abc import Collection, Iterator

from torchmagic.analyses.carried_names import loops_around
from torchmagic.analyses.scopes import name_of
from torchmagic.analyses.syntax import holds, last_name, tree_of
from torchmagic.records.place import Place

# Bindings that are followed from one name to the next.
DEEPEST = 6
# What makes a tensor or an array of data.
MAKERS = frozenset({
    "tensor", "as_tensor", "from_numpy", "Tensor", "FloatTensor", "DoubleTensor", "rand", "randn", "randint", "arange",
    "linspace", "zeros", "ones", "full", "stack", "load", "read_csv", "array", "asarray", "normal", "uniform",
})  # fmt: skip
_PASSES_AND_BATCHES = 2
# What data are divided by to be of one size, and what keeps that from being zero.
SPREADS = re.compile(r"(^|_)(stds?|stdev|sigmas?|sd|var|scales?|ranges?|ptp|norms?|max|amax|amin|min|sum|mean)(_|$)")
KEEPERS = frozenset({"clamp", "clamp_", "clamp_min", "clip", "maximum", "where", "nan_to_num"})
SEEDERS = frozenset({"manual_seed", "seed", "seed_everything", "default_rng", "RandomState"})


def fetch_line(source: str, place: Place | None, model: str) -> int | None:
    """Return the line that gives a value to what a model is called with, nearest above the call; else the call's.

    Args:
        source: Source of the cell.
        place: The line that calls the model.
        model: Its name.
    """
    if place is None:
        return None
    given = _argument(source, place.line, model.rpartition(".")[2])
    found = _binding(source, given, place.line) if given is not None else None
    return found[0] if found is not None else place.line


def origin_line(source: str, place: Place | None, model: str) -> int | None:
    """Return the line that makes the data from which a model's input comes; None where the source does not say."""
    if place is None:
        return None
    todo = [(_argument(source, place.line, model.rpartition(".")[2]), place.line, 0)]
    seen: set[int] = set()
    while todo:
        node, line, depth = todo.pop(0)
        found = _binding(source, node, line) if node is not None else None
        if found is None or found[0] in seen or depth > DEEPEST:
            continue
        seen.add(found[0])
        if calls_one_of(found[1], MAKERS):
            return found[0]
        todo += [
            (part, found[0], depth + 1) for part in ast.walk(found[1]) if isinstance(part, (ast.Name, ast.Attribute))
        ]
    return None


def fetched(source: str, line: int, model: str) -> Iterator[ast.expr]:
    """Yield the expressions from which a model's input comes: its argument at a line, and what bound names in it."""
    node: ast.expr | None = _argument(source, line, model.rpartition(".")[2])
    seen: set[int] = set()
    while node is not None and len(seen) <= DEEPEST:
        yield node
        found = _binding(source, node, line)
        if found is None or found[0] in seen:
            return
        line, node = found
        seen.add(line)


def seeds(node: ast.AST) -> int | None:
    """Return the first line of some code that seeds a random generator; None where there is none."""
    calls = (each for each in ast.walk(node) if isinstance(each, ast.Call) and last_name(each.func) in SEEDERS)
    return next((each.lineno for each in calls if each.args or each.keywords), None)


def reseeds_in_a_loop(source: str) -> int | None:
    """Return the first line inside a loop that seeds a random generator; None where there is none."""
    loops = [node for node in ast.walk(tree_of(source)) if isinstance(node, (ast.For, ast.While))]
    for loop in loops:
        for node in (each for part in loop.body for each in ast.walk(part)):
            if isinstance(node, ast.Call) and last_name(node.func) in SEEDERS and _is_constant(node):
                return node.lineno
    return None


def lines_dividing_by_spread(source: str) -> list[int]:
    """Return the lines that divide by a deviation, a norm, a range or a sum, with nothing that keeps it from zero."""
    nodes = (node for node in ast.walk(tree_of(source)) if isinstance(node, ast.BinOp | ast.AugAssign))
    divisions = (node for node in nodes if isinstance(node.op, ast.Div))
    return sorted(
        {node.lineno for node in divisions if _may_be_zero(node.right if isinstance(node, ast.BinOp) else node.value)}
    )


def _may_be_zero(by: ast.expr) -> bool:
    parts = list(ast.walk(by))
    names = [last_name(part) for part in parts if isinstance(part, ast.Name | ast.Attribute)]
    added = any(isinstance(part, ast.BinOp) and isinstance(part.op, ast.Add) for part in parts)
    return not added and not KEEPERS & {*names} and any(SPREADS.search(name) for name in names)


def goes_through_parts(source: str, line: int) -> bool:
    """Whether a line stands in loops that go through data part by part: over passes and batches, or with a stride.

    A loop that builds an optimizer goes over trials, not over data.
    """
    loops = [loop for loop in loops_around(source, line) if not _builds_an_optimizer(loop)]
    return len(loops) >= _PASSES_AND_BATCHES or any(_has_stride(loop) for loop in loops)


def lines_giving(source: str, name: str) -> Iterator[tuple[int, ast.expr]]:
    """Yield the lines that give a value to a name or an attribute of ``self``, with the value."""
    for line, target, value in _bindings(source):
        if name_of(target) == name:
            yield line, value


def lines_making(source: str, name: str, makers: Collection[str]) -> list[int]:
    """Return the lines that give a name, or an attribute of ``self``, something that one of some functions makes."""
    return [line for line, value in lines_giving(source, name) if calls_one_of(value, makers)]


def calls_one_of(value: ast.expr, functions: Collection[str]) -> bool:
    """Whether an expression calls, in any of its parts, one of some functions by their last names."""
    return any(isinstance(each, ast.Call) and last_name(each.func) in functions for each in ast.walk(value))


def _argument(source: str, line: int, model: str) -> ast.expr | None:
    """Return what the model is handed at a line: the first argument of the call by its name, else of the innermost."""
    calls = [
        node for node in ast.walk(tree_of(source)) if isinstance(node, ast.Call) and holds(node, line) and node.args
    ]
    named = [node for node in calls if last_name(node.func) == model]
    chosen = (named or sorted(calls, key=lambda node: (node.lineno, node.col_offset)))[-1:]
    return chosen[0].args[0] if chosen else None


def _binding(source: str, node: ast.expr | ast.AST, line: int) -> tuple[int, ast.expr] | None:
    """Return line and value of the last binding of a name above a line, else of the last one at all."""
    bare = node
    while isinstance(bare, (ast.Call, ast.Subscript)) or (isinstance(bare, ast.Attribute) and not name_of(bare)):
        inner = bare.func if isinstance(bare, ast.Call) else bare.value
        bare = inner.value if isinstance(bare, ast.Call) and isinstance(inner, ast.Attribute) else inner
    name = name_of(bare)
    if not name:
        return None
    found = list(lines_giving(source, name))
    above = [each for each in found if each[0] <= line]
    return max(above or found, key=lambda each: each[0], default=None)


def _bindings(source: str) -> Iterator[tuple[int, ast.expr, ast.expr]]:
    for node in ast.walk(tree_of(source)):
        if isinstance(node, ast.Assign):
            pairs = [(target, node.value) for target in node.targets]
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            pairs = [(node.target, node.value)]
        elif isinstance(node, (ast.For, ast.comprehension)):
            pairs = [(node.target, node.iter)]
        else:
            continue
        for target, value in pairs:
            line = node.lineno if not isinstance(node, ast.comprehension) else value.lineno
            yield from ((line, each, part) for each, part in _unpacked(target, value))


def _unpacked(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    if not isinstance(target, (ast.Tuple, ast.List)):
        yield target, value
        return
    parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
    for i, each in enumerate(target.elts):
        yield from _unpacked(each, parts[i] if len(parts) == len(target.elts) else value)


def _builds_an_optimizer(loop: ast.For | ast.While) -> bool:
    bound = (node.value for node in ast.walk(loop) if isinstance(node, ast.Assign))
    return any(
        isinstance(each, ast.Attribute) and each.attr == "parameters" for value in bound for each in ast.walk(value)
    )


def _has_stride(loop: ast.For | ast.While) -> bool:
    """Whether it runs over ``range(first, last, step)`` or a number of parts, a quotient."""
    nodes = list(ast.walk(loop.iter)) if isinstance(loop, ast.For) else []
    strides = (isinstance(node, ast.Call) and last_name(node.func) == "range" and len(node.args) == 3 for node in nodes)  # noqa: PLR2004 - first, last, step
    return any(strides) or any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv) for node in nodes)


def _is_constant(call: ast.Call) -> bool:
    return bool(call.args) and isinstance(call.args[0], ast.Constant)
