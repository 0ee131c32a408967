"""This file is what existed before a trial: models and optimizers of the user's, which no trial may touch."""

import gc
from typing import Any

import torch
from torch import nn

from torchmagic.tuning.own_loop.no_step import NoStepError

_KINDS = (nn.Module, torch.Tensor, torch.optim.Optimizer)


class TouchedError(NoStepError):
    """A trial was about to run or to step what is the user's own."""


class Existing:
    """All modules, tensors that need gradients, and optimizers that there are now; they are kept alive meanwhile."""

    def __init__(self) -> None:
        # By type, for asking an object for its class may run its code.
        kept = [each for each in gc.get_objects() if issubclass(type(each), _KINDS)]
        self._kept = {id(each): each for each in kept if not isinstance(each, torch.Tensor) or each.requires_grad}

    def check_call(self, module: nn.Module) -> None:
        """Accept a module that came into being later, or that has nothing to be changed.

        Raises:
            TouchedError: If it is another; one line.
        """
        if id(module) in self._kept and any(True for _ in (*module.parameters(), *module.buffers())):
            raise TouchedError(_reason(module))

    def check_step(self, optimizer: torch.optim.Optimizer) -> None:
        """Accept an optimizer that came into being later, of parameters that did.

        Raises:
            TouchedError: If it is another; one line.
        """
        parameters: list[Any] = [each for group in optimizer.param_groups for each in group["params"]]
        if id(optimizer) in self._kept or any(id(each) in self._kept for each in parameters):
            raise TouchedError(_reason(optimizer))


def _reason(what: object) -> str:
    return (
        f"the cell reaches a {type(what).__name__} of yours by a way on which it cannot be given a copy, and a trial "
        "must not train it; make it a name of the notebook, or an attribute of one"
    )
