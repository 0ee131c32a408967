"""This file is the recipe for a model that is only asked: evaluation mode, and nothing kept for a backward."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from torchmagic.tuning.modes import OptimizationMode
from torchmagic.tuning.recipe import Recipe
from torchmagic.tuning.setup import Setup


def _unfit(setup: Setup) -> str:
    if setup.optimizer is not None:
        return "it trains nothing: use optimize_model for a model that is only asked"
    return ""


def _apply(setup: Setup) -> Setup:
    return replace(setup, call=_asked(setup.call, setup.model), is_inference=True)


def _asked(call: Callable[..., Any], model: nn.Module) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        with _evaluating(model), torch.inference_mode():
            return call(*args, **kwargs)

    return run


@contextlib.contextmanager
def _evaluating(model: nn.Module) -> Iterator[None]:
    """Keep a model in evaluation mode; afterwards each part is in the mode that it was in."""
    training = [each for each in model.modules() if each.training]
    try:
        if training:
            model.eval()
        yield
    finally:
        for each in training:
            each.training = True


INFERENCE = Recipe(
    mode=OptimizationMode.INFERENCE,
    changes="The forward runs in evaluation mode and under torch.inference_mode: no dropout, batch norm by its running "
    "statistics, no graph, no version counters.",
    applies="Models that are only asked. Their outputs cannot be used in a backward.",
    exactness="The same bits as in evaluation mode.",
    unfit=_unfit,
    apply=_apply,
)
