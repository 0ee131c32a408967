"""This file is the cell that only defines its step: a function, which is called with what its parameters are named."""

import ast
import inspect
from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import Any

from torch.utils.data import DataLoader

from torchmagic.analyses.syntax import parsed
from torchmagic.tuning.own_loop.no_step import NoStepError

_LOADERS = "train_loader", "loader", "train_dataloader", "dataloader", "train_dl", "batches"


def call_of_definition(tree: ast.Module, names: Mapping[str, Any]) -> tuple[ast.Module, str] | None:
    """Return a cell with a call of the last function that it defines and that steps an optimizer, and its name.

    Without such a function there is nothing to return.

    Parameters without a default are given what is called like them. What nothing is called like is given batches, of
    the only loader there is or of the one with the most usual name.

    Args:
        tree: The cell.
        names: What is known when it has run.

    Raises:
        NoStepError: If nothing can be given to a parameter; one line.
    """
    steps = [each for each in tree.body if isinstance(each, ast.FunctionDef) and _steps(each)]
    function = names.get(steps[-1].name) if steps else None
    if not isinstance(function, FunctionType):
        return None
    parameters = inspect.signature(function).parameters.values()
    wanted = [each.name for each in parameters if each.default is each.empty and each.kind not in _VARIABLE]
    missing = [name for name in wanted if name not in names]
    given = ", ".join(f"{name}={name}" for name in wanted)
    call = f"{function.__name__}({given})"
    if missing:
        call = f"for {', '.join(missing)} in {_loader(names, function.__name__, missing)}:\n    {call}"
    added = parsed(call).body
    for statement in added:
        # Its lines come after those of the cell, none of which it is.
        ast.increment_lineno(statement, max((each.end_lineno or 0) for each in tree.body) + 1)
    return ast.Module(body=[*tree.body, *added], type_ignores=tree.type_ignores), function.__name__


_VARIABLE = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD


def _steps(function: ast.FunctionDef) -> bool:
    calls = [each.func for each in ast.walk(function) if isinstance(each, ast.Call)]
    return any(isinstance(each, ast.Attribute) and each.attr in {"step", "backward"} for each in calls)


def _loader(names: Mapping[str, Any], function: str, missing: Sequence[str]) -> str:
    loaders = [name for name, value in names.items() if isinstance(value, DataLoader) and not name.startswith("_")]
    known = [name for name in _LOADERS if name in names and hasattr(names[name], "__iter__")]
    if len(loaders) == 1 or known:
        return loaders[0] if len(loaders) == 1 else known[0]
    asked = ", ".join(missing)
    raise NoStepError(
        f"{function}() wants {asked}, which nothing is called here; call it in the cell, such as: "
        f"for {asked} in loader: {function}(...)"
    )
