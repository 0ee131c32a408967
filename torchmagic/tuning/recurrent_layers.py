"""This file is the recurrent layers of a model that its device cannot run in lower precision: they run in float32.

On a CPU torch gives an LSTM in bfloat16 to oneDNN, which has such a kernel for some processors and none for others
(AVX-512 has it, AVX2 has not), and then raises. No list of processors says so for each device, dtype and release; so
a tiny layer is tried.
"""

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_map

from torchmagic.tuning.other_forwards import other_forwards

# By the mode of a layer: its kernel, and how many gates lie in one of its weights.
_KERNELS: Mapping[str, tuple[Callable[..., Any], int]] = {
    "LSTM": (torch.lstm, 4),
    "GRU": (torch.gru, 3),
    "RNN_TANH": (torch.rnn_tanh, 1),
    "RNN_RELU": (torch.rnn_relu, 1),
}


def kept_in_float32(model: nn.Module, device: str, dtype: torch.dtype) -> list[nn.RNNBase]:
    """Return the recurrent layers of a model that a device cannot run under autocast to a dtype."""
    layers = [each for each in model.modules() if isinstance(each, nn.RNNBase)]
    return [each for each in layers if each.mode in _KERNELS and not runs_lower(each.mode, device, dtype)]


@functools.cache
def runs_lower(mode: str, device: str, dtype: torch.dtype) -> bool:
    """Whether a device runs recurrent layers of a mode (``"LSTM"``, …) under autocast to a dtype, forward and backward.

    It is tried once with a layer of zeros: no random number is drawn, no module is called, and nothing is kept.
    """
    kernel, gates = _KERNELS[mode]
    fresh = functools.partial(torch.zeros, dtype=torch.float32, device=device)
    lower = torch.autocast(device, dtype=dtype, cache_enabled=False)
    with torch.inference_mode(mode=False), torch.enable_grad(), lower:
        weights = [fresh(gates, *shape, requires_grad=True) for shape in ((1,), (1,), (), ())]
        state = fresh(1, 1, 1)
        hidden = (state, state) if mode == "LSTM" else state
        try:
            outputs = kernel(fresh(1, 1, 1), hidden, weights, True, 1, 0.0, True, False, False)  # noqa: FBT003 - torch's own
            torch.autograd.grad(outputs[0].float().sum(), weights)
        except RuntimeError:
            return False
    return True


@contextlib.contextmanager
def in_float32(layers: Sequence[nn.RNNBase], device: str) -> Iterator[None]:
    """Let layers run without autocast while they are called here, on what they are given in float32."""
    with other_forwards({each: _raised(each.forward, device) for each in layers}):
        yield


def _raised(forward: Callable[..., Any], device: str) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = tree_map(_in_float32, (args, kwargs))
        with torch.autocast(device, enabled=False):
            return forward(*args, **kwargs)

    return run


def _in_float32(value: Any) -> Any:
    return value.float() if isinstance(value, torch.Tensor) and value.is_floating_point() else value
