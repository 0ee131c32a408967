"""This file is a contender that runs the user's own loop: pass by pass, on copies of all that it uses, by one mode."""

import contextlib
import time
from collections.abc import Iterator, Mapping
from typing import Any, Self

import torch
from torch import nn
from torch.utils.data import DataLoader

from torchmagic.models.loader_batch import undone_by_loading
from torchmagic.probes.trial_watch import before_step, losses_into
from torchmagic.tensors.accelerators import wait_for
from torchmagic.tuning.agreement import Seen, seen_at
from torchmagic.tuning.contender import Clock
from torchmagic.tuning.copies import NoCopyError
from torchmagic.tuning.modes import OptimizationMode
from torchmagic.tuning.own_loop.borrowing import borrowed
from torchmagic.tuning.own_loop.first_step import CellCode
from torchmagic.tuning.own_loop.loop_code import pass_by_pass
from torchmagic.tuning.own_loop.reachable import reachable
from torchmagic.tuning.own_loop.start import Start
from torchmagic.tuning.own_loop.taken import Items
from torchmagic.tuning.own_loop.tuned_model import TunedModel
from torchmagic.tuning.own_loop.world import copied_world
from torchmagic.tuning.peak_memory import peak_memory
from torchmagic.tuning.recipe import applied
from torchmagic.tuning.recipes.catalogue import recipe_of
from torchmagic.tuning.setup import Setup, device_of
from torchmagic.tuning.streams import random_streams


class LoopContender:
    """The user's loop on copies, by one mode; two of them made at the same moment draw the same random numbers.

    Args:
        start: Where the loop begins, and with what; it is not changed.
        mode: How the models in it run.
        cell: The cell that the loop was found in.
        options: Choices of the recipes.
        clock: Tells seconds.

    Raises:
        NoCopyError: If a model or an optimizer cannot be copied.
    """

    def __init__(
        self,
        start: Start,
        mode: OptimizationMode,
        cell: CellCode,
        *,
        options: Mapping[str, Any],
        clock: Clock = time.perf_counter,
    ) -> None:
        self._cell, self._start, self._clock, self._mode = cell, start, clock, mode
        self._setups: list[Setup] = []
        self._optimizer = start.optimizer
        self._options = options
        world = copied_world(start.world, [(model, self._stand) for model in start.models])
        self._names, self._local = world.names, world.local
        self._items = Items(start.items)
        self._passes = self._begun()
        self.device = device_of(self._setups[0].model)
        self._streams = random_streams()
        self._outputs: list[Any] | None = []
        self._seen: Seen | None = None
        self._losses: list[list[torch.Tensor]] = []
        self._throughout = contextlib.ExitStack()
        if world.num_left_hooks:
            self.setup.notes.remarks.append(f"hooks, {world.num_left_hooks} of them, did not run on copies")

    @property
    def setup(self) -> Setup:
        """How the first model that the mode applies to runs."""
        return next((each for each in self._setups if self._mode in each.notes.in_force), self._setups[0])

    def __enter__(self) -> Self:
        values = [*self._names.values(), *self._local.values()]
        loaders = [each for each in reachable(values) if isinstance(each, DataLoader)]
        self._throughout.enter_context(undone_by_loading(*loaders))
        for setup in self._setups:
            for context in setup.throughout:
                self._throughout.enter_context(context())
        return self

    def __exit__(self, *_: object) -> None:
        self._passes.close()
        self._throughout.close()

    def step(self, number: int) -> float:
        """Do the next pass, and return its seconds.

        Args:
            number: Counted from 0, in order.
        """
        with self._at_work(number):
            self._wait()
            begin = self._clock()
            self._advance()
            self._wait()
            return self._clock() - begin

    def memory(self, number: int) -> float | None:
        """Do the next pass and return its peak of memory in MiB; None where that cannot be measured."""
        self._optimizer.zero_grad()  # what is released here must not count as memory that the pass gives back
        with self._at_work(number):
            return peak_memory(self._advance, self.device)

    def seen(self) -> Seen:
        """Return outputs and gradients at the first optimizer step, and the losses of all passes.

        Raises:
            ValueError: If no optimizer stepped.
        """
        if self._seen is None:
            raise ValueError("no optimizer stepped in the first pass of the loop")
        sums = [float(sum(each.float().sum() for each in losses)) if losses else 0.0 for losses in self._losses]
        return Seen(outputs=self._seen.outputs, gradients=self._seen.gradients, losses=tuple(sums))

    def _stand(self, model: nn.Module, optimizers: Mapping[int, torch.optim.Optimizer]) -> nn.Module:
        """Return what stands in the place of a copied model."""
        if id(self._start.optimizer) not in optimizers:
            raise NoCopyError("the loop holds its optimizer by no name that can be given a copy")
        self._optimizer = optimizers[id(self._start.optimizer)]
        optimizer = None if self._setups else self._optimizer  # a recipe for the optimizer is applied once
        setup = Setup(model=model, call=model, optimizer=optimizer, options=dict(self._options))
        reason = _unfit(self._mode)
        if reason:
            setup.notes.refuse(self._mode, reason)
        else:
            setup = applied(recipe_of(self._mode), setup)
        if setup.is_scaled:
            setup.notes.refuse(self._mode, "this device computes in float16, which needs a GradScaler in the loop")
        self._setups.append(setup)
        return TunedModel(setup, self._mode, self._look)

    def _look(self, outputs: Any) -> None:
        if self._outputs is not None:
            self._outputs.append(outputs)

    def _look_at_step(self) -> None:
        if self._outputs is None:
            return
        outputs, self._outputs = self._outputs, None
        seen = [seen_at([outputs], setup.model) for setup in self._setups]
        gradients = {
            f"{i}.{name}" if i else name: each for i, of in enumerate(seen) for name, each in of.gradients.items()
        }
        self._seen = Seen(outputs=seen[0].outputs, gradients=gradients, losses=())

    def _begun(self) -> Any:
        local = {name: value for name, value in self._local.items() if name.isidentifier()}
        loop = self._start.loop
        takes = [name for name in local if name not in loop.is_global]
        function = pass_by_pass(loop, self._start.globals, takes)
        return function(self._items, **{name: local[name] for name in takes})

    @contextlib.contextmanager
    def _at_work(self, number: int) -> Iterator[None]:
        self._items.prepare()
        self._losses.append([])
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._cell.quiet())
            stack.enter_context(borrowed(self._cell.namespace, self._names))
            stack.enter_context(losses_into(self._losses[-1]))
            for kind, dtype in self._start.autocast:
                stack.enter_context(torch.autocast(kind, dtype=dtype))
            if number == 0:
                stack.callback(before_step(self._optimizer, self._look_at_step))
                next(self._passes)
                self._items.prepare()
            self._streams()
            yield
            self._streams = random_streams()

    def _advance(self) -> None:
        with contextlib.ExitStack() as stack:
            for setup in self._setups:
                for context in setup.around:
                    stack.enter_context(context())
            try:
                next(self._passes)
            except StopIteration:
                number = len(self._losses)
                raise ValueError(f"the loop ended after {number} passes; it has to go on to be measured") from None

    def _wait(self) -> None:
        wait_for(self.device)


def _unfit(mode: OptimizationMode) -> str:
    if mode is OptimizationMode.GRADIENT_ACCUMULATION:
        return "how many batches a step takes is said by the loop itself; PyTorchOptimizer measures it"
    if mode is OptimizationMode.INFERENCE:
        return "it trains nothing: use optimize_model for a model that is only asked"
    return ""
