"""This file is the first run of a cell on copies: up to its first optimizer step, which tells where its loop is."""

import ast
import contextlib
import dataclasses
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader

from torchmagic.models.loader_batch import undone_by_loading
from torchmagic.models.streams import untouched_globals
from torchmagic.probes.sites import is_librarys, is_users
from torchmagic.probes.trial_watch import until_step
from torchmagic.probes.unseen import unseen
from torchmagic.tensors.accelerators import autocast_kinds
from torchmagic.tuning.own_loop.borrowing import borrowed
from torchmagic.tuning.own_loop.existing import Existing
from torchmagic.tuning.own_loop.loop_code import Loop, loop_around
from torchmagic.tuning.own_loop.no_step import NoStepError
from torchmagic.tuning.own_loop.reachable import reachable
from torchmagic.tuning.own_loop.taken import Untouched
from torchmagic.tuning.own_loop.used_names import used_names
from torchmagic.tuning.own_loop.world import World, copied_world

Quiet = Callable[[], contextlib.AbstractContextManager[Any]]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CellCode:
    """A cell that was read and is ready to run.

    Args:
        tree: As Python runs it.
        file: The name that its code goes by in tracebacks.
        namespace: The user's names, which it runs in.
        quiet: Makes what is entered while code of the user's runs, so that it shows nothing.
    """

    tree: ast.Module
    file: str
    namespace: dict[str, Any]
    quiet: Quiet = contextlib.nullcontext

    def compiled(self) -> CodeType:
        """Return its code."""
        return compile(self.tree, self.file, "exec")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class FirstStep:
    """What was running when an optimizer was about to step for the first time.

    Args:
        optimizer: The optimizer.
        models: Modules that were called, and are part of no other that was.
        loop: The innermost loop around it; None where there is none.
        line: The line of the cell that it was reached from.
        world: All that the cell had made, and copies of what it used; the step was not made.
        globals: The namespace that the loop runs in.
        autocast: Devices on which autocast was on, with the dtype.
    """

    optimizer: torch.optim.Optimizer
    models: tuple[nn.Module, ...]
    loop: Loop | None
    line: int
    world: World
    globals: dict[str, Any]
    autocast: tuple[tuple[str, torch.dtype], ...]


class _Reached(BaseException):
    """Ends the first run; no exception of the user's own, so that only a bare ``except`` could stop it."""


def first_step(cell: CellCode) -> FirstStep | World:
    """Run a cell on copies until an optimizer is about to step.

    Nothing of the user's is changed: what the cell uses are copies, and names, random number streams and switches are
    put back. What the cell raises before is raised.

    Args:
        cell: The cell.

    Returns:
        What was running; or, if no optimizer stepped, what the cell left behind.

    Raises:
        TouchedError: If the cell would train what cannot be copied; one line.
    """
    existing, code, names = Existing(), cell.compiled(), cell.namespace
    used = {name: names[name] for name in used_names(code, names)}
    world, watch = copied_world(World(names=used), iterator=Untouched), _Watch(existing, cell)
    loaders = [each for each in reachable(used.values()) if isinstance(each, DataLoader)]
    with (
        aside(cell),
        undone_by_loading(*loaders),
        borrowed(names, world.names),
        until_step(watch.called, watch.stepped),
    ):
        try:
            exec(code, names)  # noqa: S102 - the user's own cell
        except _Reached as reached:
            reached.__traceback__ = None
    if watch.refusal is not None:
        raise watch.refusal
    if watch.optimizer is None:
        return world
    return watch.found(world)


@contextlib.contextmanager
def aside(cell: CellCode) -> Iterator[None]:
    """Run code of the user's: it shows nothing, no watched run sees it, streams and switches are put back."""
    with unseen(), untouched_globals(), cell.quiet():
        yield


class _Watch:
    """Notes what is called, and ends the run at the first step."""

    def __init__(self, existing: Existing, cell: CellCode) -> None:
        self._existing, self._cell = existing, cell
        self._modules: dict[int, nn.Module] = {}
        self.optimizer: torch.optim.Optimizer | None = None
        self.refusal: NoStepError | None = None
        self._loop: Loop | None = None
        self._line = 0
        self._local: dict[str, Any] = {}
        self._globals = cell.namespace
        self._autocast: tuple[tuple[str, torch.dtype], ...] = ()

    def called(self, module: nn.Module) -> None:
        self._check(lambda: self._existing.check_call(module))
        self._modules[id(module)] = module

    def stepped(self, optimizer: torch.optim.Optimizer) -> None:
        self._check(lambda: self._existing.check_step(optimizer))
        if self.optimizer is None:
            self.optimizer = optimizer
            kinds = (kind for kind in autocast_kinds() if torch.is_autocast_enabled(kind))
            self._autocast = tuple((kind, torch.get_autocast_dtype(kind)) for kind in kinds)
            self._find(sys._getframe(1))  # noqa: SLF001 - the way to the loop that is running
        raise _Reached

    def found(self, world: World) -> FirstStep:
        """Return what was running, with what the cell left behind."""
        assert self.optimizer is not None  # noqa: S101 - asked for only then
        return FirstStep(
            optimizer=self.optimizer,
            models=self._models(),
            loop=self._loop,
            line=self._line,
            world=dataclasses.replace(world, local=self._local),
            globals=self._globals,
            autocast=self._autocast,
        )

    def _check(self, accept: Callable[[], None]) -> None:
        try:
            accept()
        except NoStepError as error:
            self.refusal = error
            raise _Reached from None

    def _find(self, frame: FrameType | None) -> None:
        """Look for the loop outwards, in code of the user's."""
        while frame is not None:
            code, line = frame.f_code, frame.f_lineno
            is_cell = code.co_filename == self._cell.file
            if is_cell or is_users(frame) or is_librarys(frame):
                loop = loop_around(code, line, self._cell.tree if is_cell else None)
                if loop is not None:
                    self._keep(loop, frame, is_users=is_cell or is_users(frame))
                    return
            if is_cell and code.co_name == "<module>":
                self._line = line
                return
            frame = frame.f_back

    def _keep(self, loop: Loop, frame: FrameType, *, is_users: bool) -> None:
        if not is_users:
            where = f"{frame.f_globals.get('__name__', loop.file)}.{loop.function}"
            self.refusal = NoStepError(f"the training loop is that of a library, {where}(); write the loop in the cell")
            return
        self._loop, self._globals = loop, frame.f_globals
        self._local = dict(frame.f_locals) if loop.function else {}

    def _models(self) -> tuple[nn.Module, ...]:
        """Return the outermost modules of those that were called: no parts of others, nor what another only wraps."""
        inside = {id(part) for each in self._modules.values() for part in each.modules() if part is not each}
        outermost = [each for key, each in self._modules.items() if key not in inside]
        covered, found = set[int](), []
        for module in outermost:
            own = set(map(id, module.parameters()))
            if own - covered:
                found.append(module)
            covered |= own
        return tuple(found)
