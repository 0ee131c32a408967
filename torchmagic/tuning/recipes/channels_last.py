"""This file is the recipe for images whose channels lie side by side in memory."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_map

from torchmagic.tuning.modes import OptimizationMode
from torchmagic.tuning.recipe import Recipe
from torchmagic.tuning.setup import Setup

_FORMATS = {4: torch.channels_last, 5: torch.channels_last_3d}
_LAYERS = nn.Conv2d, nn.Conv3d, nn.ConvTranspose2d, nn.ConvTranspose3d


def _unfit(setup: Setup) -> str:
    if any(isinstance(each, _LAYERS) for each in setup.model.modules()):
        return ""
    return "the model has no convolution over images"


def _apply(setup: Setup) -> Setup:
    return replace(setup, call=_converted(setup.call))


def _converted(call: Callable[..., Any]) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = tree_map(_channels_last, (args, kwargs))
        return call(*args, **kwargs)

    return run


def _channels_last(value: Any) -> Any:
    if isinstance(value, torch.Tensor) and value.layout is torch.strided and value.ndim in _FORMATS:
        return value.contiguous(memory_format=_FORMATS[value.ndim])
    return value


CHANNELS_LAST = Recipe(
    mode=OptimizationMode.CHANNELS_LAST,
    changes="Inputs of four and five dimensions are laid out with the channels last; convolutions keep that layout. "
    "The weights stay as they are.",
    applies="Models that convolve over images or volumes.",
    exactness="Sums run in another order: the last bits of outputs and gradients differ.",
    unfit=_unfit,
    apply=_apply,
)
