"""This file finds the line that makes the class weights of a loss."""

import ast

from torchmagic.analyses.data_lines import lines_giving
from torchmagic.analyses.syntax import last_name


def line_making_weights(source: str, loss: str, keyword: str) -> int | None:
    """Return the 1-based line that gives its value to what a loss takes as weights; that of the loss where none does.

    Args:
        source: Source of a cell or file.
        loss: Name of the loss, such as ``criterion``.
        keyword: ``weight`` or ``pos_weight``.
    """
    given = list(lines_giving(source, loss.rpartition(".")[2]))
    made = [(line, value) for line, value in given if isinstance(value, ast.Call)]
    if len(made) != 1:
        return None
    line, call = made[0]
    values = [each.value for each in call.keywords if each.arg == keyword] or call.args[:1]
    name = last_name(values[0]) if values else ""
    makes = [at for at, _ in lines_giving(source, name) if at <= line] if name else []
    return max(makes, default=line)
