"""This file finds the names by which the user's code speaks of a scheduler and of its optimizer."""

import ast

from torchmagic.analyses.syntax import holds, last_name, tree_of
from torchmagic.analyses.texts import text_around
from torchmagic.records.model import OptimizerRecord
from torchmagic.records.place import Place
from torchmagic.records.schedule import ScheduleRecord
from torchmagic.session.run import Run

UNKNOWN = "scheduler"
_NAMES = (ast.Name, ast.Attribute, ast.Subscript)


def schedule_name(run: Run, record: ScheduleRecord) -> str:
    """Return the scheduler's variable: as it was seen, as a line calls it, or as the one that builds it does."""
    known = "" if record.name == record.class_name else record.name.rpartition(".")[2]
    for node in _nodes(run, record.place):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "step":
            stepped = node.func.value
            if isinstance(stepped, _NAMES) and (not known or last_name(stepped) == known):
                return ast.unparse(stepped)
    if known:
        return record.name
    for node in _nodes(run, record.built):
        if isinstance(node, ast.Assign) and _builds(node.value, record.class_name):
            return next((ast.unparse(each) for each in node.targets if isinstance(each, _NAMES)), UNKNOWN)
    return UNKNOWN


def scheduled_optimizer(run: Run, record: ScheduleRecord) -> str:
    """Return the variable of a scheduler's optimizer: as it was seen, or as the line that builds the scheduler has it.

    Where neither tells it is the optimizer's class.
    """
    if all(record.optimizer != each.class_name for each in run.of(OptimizerRecord)):
        return record.optimizer
    for node in _nodes(run, record.built):
        if isinstance(node, ast.Call) and _builds(node, record.class_name):
            given = [*node.args[:1], *(each.value for each in node.keywords if each.arg == "optimizer")]
            if given and isinstance(given[0], _NAMES):
                return ast.unparse(given[0])
    return record.optimizer


def _nodes(run: Run, place: Place | None) -> list[ast.AST]:
    """Return the nodes of a place's line, or of its text alone."""
    text = text_around(run, place)
    if place is None:
        return []
    if not text:
        return list(ast.walk(tree_of(place.source)))
    nodes = [node for node in ast.walk(tree_of(text)) if isinstance(node, (ast.stmt, ast.expr))]
    return [node for node in nodes if holds(node, place.line)]


def _builds(node: ast.AST, class_name: str) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) == class_name
