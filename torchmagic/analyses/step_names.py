"""This file finds how the user's code speaks of an optimizer where it is stepped."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torchmagic.analyses.source_calls import scaler_in
from torchmagic.analyses.syntax import holds, tree_of
from torchmagic.analyses.texts import texts_of
from torchmagic.records.model import OptimizerRecord
from torchmagic.session.run import Run


def stepped_in(source: str) -> list[str]:
    """Return what code calls ``step`` on, each once, the outermost statements first: ``self.opt`` and ``opts[0]``."""
    return list(dict.fromkeys(ast.unparse(call.func.value) for call in _calls(source)))


def as_in_code(run: Run, optimizer: str) -> str:
    """Return how the code that steps an optimizer speaks of it; its name where no line, or several lines, tell.

    Args:
        run: The run.
        optimizer: Its name, which in a method may be without its object, or its class.
    """
    scaler = scaler_in(*texts_of(run))
    calls = [call for text in texts_of(run) for call in _calls(text)]
    given = [ast.unparse(each.args[0]) for each in calls if each.args and ast.unparse(each.func.value) == scaler]
    known = list(dict.fromkeys([*given, *(ast.unparse(each.func.value) for each in calls if not each.args)]))
    if any(optimizer == each.class_name for each in run.of(OptimizerRecord)):
        found = list(dict.fromkeys(given))
    else:
        last = optimizer.rpartition(".")[2]
        found = [name for name in known if name.rpartition(".")[2] == last]
    return found[0] if len(found) == 1 else optimizer


def steps_each(source: str, line: int) -> bool:
    """Whether a line steps what a loop around it goes through, as one optimizer after the other."""
    for node in ast.walk(tree_of(source)):
        if isinstance(node, ast.For) and holds(node, line) and isinstance(node.target, ast.Name):
            stepped = [call.func.value for call in _calls(source) if call.lineno == line]
            if any(isinstance(each, ast.Name) and each.id == node.target.id for each in stepped):
                return True
    return False


@dataclass(frozen=True, slots=True)
class _Call:
    """A call of a method."""

    func: ast.Attribute
    args: list[ast.expr]
    lineno: int


def _calls(source: str) -> Iterator[_Call]:
    for node in ast.walk(tree_of(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "step":
            yield _Call(func=node.func, args=node.args, lineno=node.lineno)
