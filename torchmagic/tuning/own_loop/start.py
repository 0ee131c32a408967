"""This file is the start of a loop: what it is given, what it runs over, and what it does in a pass."""

import ast
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader

from torchmagic.models.loader_batch import undone_by_loading
from torchmagic.tuning.own_loop.borrowing import borrowed
from torchmagic.tuning.own_loop.first_step import CellCode, FirstStep, aside
from torchmagic.tuning.own_loop.loop_code import Loop, loop_of
from torchmagic.tuning.own_loop.no_step import NoStepError
from torchmagic.tuning.own_loop.own_loader import own_loader
from torchmagic.tuning.own_loop.reachable import reachable
from torchmagic.tuning.own_loop.taken import MOST_TAKEN
from torchmagic.tuning.own_loop.world import World, settle

_DEFINING = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """The start of a loop.

    Args:
        loop: The loop.
        items: What it runs over, taken once; one None for a loop that runs over nothing.
        world: All that it uses, before its next pass.
        globals: The namespace that it runs in.
        models: The models in it.
        optimizer: The one that steps first.
        autocast: Devices on which autocast is on around it, with the dtype.
        is_whole_cell: Whether there is no loop, and a pass is the cell itself.
    """

    loop: Loop
    items: Sequence[Any]
    world: World
    globals: dict[str, Any]
    models: tuple[nn.Module, ...]
    optimizer: torch.optim.Optimizer
    autocast: tuple[tuple[str, torch.dtype], ...]
    is_whole_cell: bool = False


def start_of(found: FirstStep, cell: CellCode) -> Start:
    """Return the start of the loop that was running when an optimizer stepped.

    Args:
        found: What was running.
        cell: The cell.

    Raises:
        NoStepError: If its passes cannot be run one by one, or it runs over nothing; one line.
    """
    models = found.models or _owners(found)
    if not models:
        raise NoStepError("the step calls no model (torch.nn.Module) with parameters, and modes apply to models")
    loop = found.loop or loop_of(_step_of(cell.tree.body, found, models), cell.file)
    if not loop.can_run:
        raise NoStepError(f"the loop at line {loop.line} awaits or yields, and cannot be run step by step")
    items = _items(loop, found, cell) if found.loop is not None and isinstance(loop.node, ast.For) else [None]
    settle(found.world)
    return Start(
        loop=loop,
        items=items,
        world=found.world,
        globals=found.globals,
        models=models,
        optimizer=found.optimizer,
        autocast=found.autocast,
        is_whole_cell=found.loop is None,
    )


def _owners(found: FirstStep) -> tuple[nn.Module, ...]:
    """Return modules whose parameters the optimizer steps: of a step that calls the forward itself."""
    stepped = {id(each) for group in found.optimizer.param_groups for each in group["params"]}
    modules = [each for each in reachable(found.world.values()) if isinstance(each, nn.Module)]
    owners = [each for each in modules if any(id(parameter) in stepped for parameter in each.parameters())]
    inside = {id(part) for each in owners for part in each.modules() if part is not each}
    return tuple(each for each in owners if id(each) not in inside)


def _step_of(body: Sequence[ast.stmt], found: FirstStep, models: Sequence[nn.Module]) -> list[ast.stmt]:
    """Return the statements of a cell without a loop that are its step: those after what defines and makes things."""
    made = {id(found.optimizer), *map(id, models)}
    number = 0
    for i, statement in enumerate(body):
        if statement.lineno > found.line:
            break
        bound = {
            each.id for each in ast.walk(statement) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        }
        if isinstance(statement, _DEFINING) or any(id(found.world.names.get(name)) in made for name in bound):
            number = i + 1
    return list(body[number:])


def _items(loop: Loop, found: FirstStep, cell: CellCode) -> list[Any]:
    """Return what a ``for`` runs over, at most 64; what is run over again and again is taken once."""
    assert isinstance(loop.node, ast.For)  # noqa: S101 - asked for only then
    code = compile(ast.Expression(loop.node.iter), loop.file, "eval")
    loaders = [each for each in reachable(found.world.values()) if isinstance(each, DataLoader)]
    with aside(cell), undone_by_loading(*loaders), borrowed(cell.namespace, found.world.names):
        source = eval(code, found.globals, found.world.local)  # noqa: S307 - the user's own loop
        source = own_loader(source) if isinstance(source, DataLoader) else source
        items = list(itertools.islice(iter(source), MOST_TAKEN))
    if not items:
        raise NoStepError(f"the loop at line {loop.line} runs over nothing")
    return items
