"""This file finds the line of a cell that builds something: a function that only returns it does not count."""

import ast
from collections.abc import Sequence

from torchmagic.analyses.source_lines import line_at
from torchmagic.analyses.syntax import function_around, holds, last_name, tree_of
from torchmagic.records.place import Place

# What Python calls a function without a name; it returns all that it builds.
LAMBDA = "<lambda>"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
# A loop over passes, and one over the batches of a pass.
_PHASE_LOOPS = 2


def line_that_builds(source: str, places: Sequence[Place]) -> Place | None:
    """Return, of the lines that led to a construction, the one that a user would move.

    Args:
        source: Source of the cell.
        places: The line that builds, then those that called it, outwards.

    Returns:
        The innermost line of the cell which is not in a function that only makes the thing and returns it; the
        innermost of all where the cell has none.
    """
    inside = [place for place in places if place.source and line_at(source, place.line) == place.source]
    for place in inside[:-1]:
        if place.function != LAMBDA and not is_returned(source, place.line):
            return place
    return inside[-1] if inside else (places[0] if places else None)


def is_returned(source: str, line: int) -> bool:
    """Whether the function around a line of some source returns what the line builds, and does not train it first."""
    function = function_around(tree_of(source), line)
    if function is None or _goes_backward(function):
        return False
    statements = [node for node in ast.walk(function) if isinstance(node, ast.stmt) and holds(node, line)]
    # Of those that fill one line, as a function and its body may, the innermost comes last.
    statement = min(reversed(statements), key=lambda node: (node.end_lineno or node.lineno) - node.lineno)
    if isinstance(statement, ast.Return):
        return True
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    built = {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
    returned = {each.id for node in ast.walk(function) if isinstance(node, ast.Return) for each in _names(node.value)}
    return bool(built & returned)


def _goes_backward(function: ast.AST) -> bool:
    calls = (node for node in ast.walk(function) if isinstance(node, ast.Call))
    return any(last_name(each.func) == "backward" for each in calls)


def begins_a_phase(source: str, line: int) -> bool:
    """Whether what a line builds steps inside two loops that the line is not in: over passes, and over batches.

    Args:
        source: Source of the cell.
        line: Line that builds an optimizer.
    """
    nodes = list(ast.walk(tree_of(source)))
    blocks = [node for node in nodes if isinstance(node, (*_LOOPS, *_FUNCTIONS)) and holds(node, line)]
    around = max(blocks, key=lambda node: node.lineno, default=None)
    steps = [
        node.lineno
        for node in (ast.walk(around) if around is not None else nodes)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "step"
    ]
    loops = [node for node in nodes if isinstance(node, _LOOPS) and not holds(node, line)]
    depths = [sum(holds(loop, step) for loop in loops) for step in steps if step > line]
    return bool(depths) and min(depths) >= _PHASE_LOOPS


def steps_on_all(source: str, line: int) -> bool:
    """Whether what a line builds steps in a loop that only counts: no step takes a part of the data by its number.

    Args:
        source: Source of the cell.
        line: Line that builds an optimizer.
    """
    loops = [node for node in ast.walk(tree_of(source)) if isinstance(node, ast.For) and not holds(node, line)]
    for loop in sorted(loops, key=lambda node: node.lineno):
        parts = [each for statement in loop.body for each in ast.walk(statement)]
        if loop.lineno > line and any(isinstance(each, ast.Attribute) and each.attr == "step" for each in parts):
            counts = isinstance(loop.iter, ast.Call) and last_name(loop.iter.func) == "range"
            names = {each.id for each in ast.walk(loop.target) if isinstance(each, ast.Name)}
            return counts and not any(isinstance(each, ast.Name) and each.id in names for each in parts)
    return False


def _names(value: ast.expr | None) -> list[ast.Name]:
    """Return the names that a value is, or that a tuple of values is made of."""
    items = value.elts if isinstance(value, ast.Tuple) else [value]
    return [each for each in items if isinstance(each, ast.Name)]
