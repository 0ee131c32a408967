"""This file finds the line that makes a module, from its path and the source code."""

import ast
from collections.abc import Sequence

from torchmagic.analyses.syntax import last_name, tree_of
from torchmagic.analyses.texts import places_by
from torchmagic.records.place import Place
from torchmagic.session.run import Run


def place_building(run: Run, path: str) -> Place | None:
    """Return the line that makes the module at a path, in any of the run's texts; None where none shows it alone."""
    found = places_by(run, lambda text: line_building(text, path.split(".")) or None)
    return found[0] if len(found) == 1 else None


def line_building(source: str, parts: Sequence[str]) -> int:
    """Return the 1-based line that makes the module at a path such as ``model.body.2``; 0 where none shows it.

    Where several classes have an attribute of this name, the source does not say which, and neither does this.
    """
    if not parts:
        return 0
    attribute = next((index for index in range(len(parts) - 1, -1, -1) if not parts[index].isdigit()), 0)
    items = [int(part) for part in parts[attribute + 1 :] if part.isdigit()]
    found = {
        line
        for node in ast.walk(tree_of(source))
        if isinstance(node, ast.Assign) and any(last_name(target) == parts[attribute] for target in node.targets)
        if (line := _line(node.value, items))
    }
    return found.pop() if len(found) == 1 else 0


def _line(value: ast.expr, items: list[int]) -> int:
    """Return the line of a call that makes a module, or that of one of its arguments."""
    if not isinstance(value, ast.Call):
        return 0
    for item in items:
        arguments = value.args
        if len(arguments) == 1 and isinstance(arguments[0], ast.List | ast.Tuple):
            arguments = arguments[0].elts
        if item >= len(arguments) or any(isinstance(each, ast.Starred) for each in arguments):
            return value.lineno
        argument = arguments[item]
        if not isinstance(argument, ast.Call):
            return argument.lineno
        value = argument
    return value.lineno
