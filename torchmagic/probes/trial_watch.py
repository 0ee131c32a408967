"""This file is the watch over a trial of our own: modules called, optimizers about to step, losses of backwards."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn
from torch.optim import optimizer as optimizers

from torchmagic.probes.patches import Patches


@contextlib.contextmanager
def until_step(
    on_call: Callable[[nn.Module], None], on_step: Callable[[torch.optim.Optimizer], None]
) -> Iterator[None]:
    """Tell of modules and optimizers while it is entered.

    Args:
        on_call: Told of each module before its forward; what it raises is raised there.
        on_step: Told of each optimizer before its step; what it raises is raised there.
    """
    handles: list[Any] = [
        nn.modules.module.register_module_forward_pre_hook(lambda module, _args: on_call(module)),
        optimizers.register_optimizer_step_pre_hook(lambda optimizer, _args, _kwargs: on_step(optimizer)),
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@contextlib.contextmanager
def losses_into(losses: list[torch.Tensor]) -> Iterator[None]:
    """Add what each ``backward()`` begins from to a list, without its graph, while it is entered."""
    patches = Patches()

    def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
        def backward(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            losses.append(self.detach())
            return original(self, *args, **kwargs)

        return backward

    patches.replace(torch.Tensor, "backward", wrap)
    try:
        yield
    finally:
        patches.undo()


def before_step(optimizer: torch.optim.Optimizer, look: Callable[[], None]) -> Callable[[], None]:
    """Have a copy of an optimizer call something before each step; return what ends that."""
    handle = optimizer.register_step_pre_hook(lambda *_: look())
    return handle.remove
