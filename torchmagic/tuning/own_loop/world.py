"""This file is a world: all that a loop uses, under its names, and copies of it that share nothing that is trained."""

import collections
import copy
import dataclasses
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import CellType, FunctionType, ModuleType
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from torchmagic.tuning.copies import complete_optimizer, copy_of, remove_hooks
from torchmagic.tuning.own_loop.own_loader import own_loader
from torchmagic.tuning.own_loop.reachable import reachable
from torchmagic.tuning.own_loop.taken import Replayed, Untouched

# Larger tensors and arrays that need no gradient are data, which a loop reads: copies share them.
SHARED_FROM = 1 << 28
# Puts another object in the place of a copied module, given its copy and the copies of the optimizers.
Stand = Callable[[nn.Module, Mapping[int, torch.optim.Optimizer]], Any]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What a loop uses.

    Args:
        names: Of the namespace.
        local: Of the function that the loop stands in; empty where it stands in none.
        num_left_hooks: Hooks of the user's that its modules are without.
        replayed: What stands for iterators in its copies, by identity: each gives the same items in all of them.
    """

    names: dict[str, Any]
    local: dict[str, Any] = dataclasses.field(default_factory=dict)
    num_left_hooks: int = 0
    replayed: dict[int, Any] = dataclasses.field(default_factory=dict)

    def values(self) -> list[Any]:
        """Return all values."""
        return [*self.names.values(), *self.local.values()]


def copied_world(
    world: World, stands: Sequence[tuple[nn.Module, Stand]] = (), *, iterator: Callable[[Iterator[Any]], Any] = Replayed
) -> World:
    """Return a copy: modules, optimizers with their state, and what holds them, tied together as before.

    Modules of Python, functions, datasets and large tensors are shared, and so is what refuses to be copied. Loaders
    load in this process, in an order of their own. Iterators give their items to every copy. The user's hooks stay
    behind.

    Args:
        world: What is copied.
        stands: Modules, each with what is to stand in the place of its copy.
        iterator: Makes what stands for an iterator.
    """
    values = list(reachable(world.values()))
    for each in values:
        if isinstance(each, Iterator) and not isinstance(each, (io.IOBase, Replayed, Untouched)):
            world.replayed.setdefault(id(each), iterator(each))
    memo = dict(_told_apart(values)) | {key: copy.copy(each) for key, each in world.replayed.items()}
    stood = {id(module): copy_of(module, memo, "model") for module, _ in stands}
    optimizers = [each for each in values if isinstance(each, torch.optim.Optimizer)]
    for each in optimizers:
        complete_optimizer(copy_of(each, memo, "optimizer"), each, memo)
    left = sum(remove_hooks(each) for each in stood.values())
    made = {id(each): memo[id(each)] for each in optimizers if id(each) in memo}
    for module, stand in stands:
        memo[id(module)] = stand(stood[id(module)], made)
    names = {name: _copy(value, memo) for name, value in world.names.items()}
    local = {name: _copy(value, memo) for name, value in world.local.items()}
    for each in values:
        other = memo.get(id(each))
        if isinstance(each, nn.Module) and isinstance(other, nn.Module) and other is not each:
            left += remove_hooks(other)
    return World(names=names, local=local, num_left_hooks=world.num_left_hooks + left)


def settle(world: World) -> None:
    """Take what an interrupted step left behind: gradients, and what a scaler knows of it."""
    for each in reachable(world.values()):
        if isinstance(each, nn.Module):
            _forget(each.parameters())
        elif isinstance(each, torch.optim.Optimizer):
            _forget(parameter for group in each.param_groups for parameter in group["params"])
        elif isinstance(each, torch.amp.GradScaler):
            getattr(each, "_per_optimizer_states", collections.OrderedDict()).clear()


def _forget(parameters: Iterable[torch.Tensor]) -> None:
    for parameter in parameters:
        parameter.grad = None


def _told_apart(values: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    """Yield what stands for values that are not simply copied, by identity."""
    for each in values:
        if isinstance(each, torch.Tensor):
            if not each.is_leaf:
                yield id(each), each.detach().clone()
            elif not each.requires_grad and each.numel() * each.element_size() > SHARED_FROM:
                yield id(each), each
        elif isinstance(each, DataLoader):
            yield id(each), own_loader(each)
        elif isinstance(each, Dataset | ModuleType):
            yield id(each), each
        elif isinstance(each, torch.Generator):
            yield id(each), each.clone_state()


def _copy(value: Any, memo: dict[int, Any]) -> Any:
    if isinstance(value, type | ModuleType) or (isinstance(value, np.ndarray) and value.nbytes > SHARED_FROM):
        return value
    if isinstance(value, FunctionType):
        return memo.get(id(value)) or _function(value, memo)
    attempt = dict(memo)
    try:
        made = copy.deepcopy(value, attempt)
    except Exception:  # noqa: BLE001 - whatever refuses to be copied; that nothing of it is trained is checked later
        made = attempt[id(value)] = value
        memo[id(value)] = value
        return made
    # Among the copies is the list that keeps originals alive, under the identity of the memo.
    alive = attempt.pop(id(attempt), [])
    memo.update(attempt)
    memo.setdefault(id(memo), []).extend(alive)
    return made


def _function(function: FunctionType, memo: dict[int, Any]) -> FunctionType:
    """Return a function that uses copies where its enclosing functions' names mean what is copied."""
    memo[id(function)] = function
    if not function.__closure__:
        return function
    cells = tuple(_cell(cell, memo) for cell in function.__closure__)
    if all(new is old for new, old in zip(cells, function.__closure__, strict=True)):
        return function
    made = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__, cells)
    made.__kwdefaults__ = function.__kwdefaults__
    vars(made).update(vars(function))
    memo[id(function)] = made
    return made


def _cell(cell: CellType, memo: dict[int, Any]) -> CellType:
    try:
        value = cell.cell_contents
    except ValueError:
        return cell
    made = _copy(value, memo)
    return cell if made is value else CellType(made)
