"""This file is activation checkpointing of a model that stays as it is: its blocks are run again in the backward.

For the time of one call the blocks of the model have another forward; after it, however it ends, their own.
"""

import contextlib
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from torchmagic.tuning.other_forwards import other_forwards

# Of a plain chain of layers it pays to keep every few an activation only if there are some layers.
FEWEST_LAYERS = 4
_FEWEST_BLOCKS = 2
# The kernel of batch norm writes without counting it, so a module's buffers of so many bytes are taken as written.
_MOST_BYTES = 1 << 20


def blocks_of(model: nn.Module) -> list[nn.Module]:
    """Return what can be run again: the members of a row of blocks, and chains of plain layers; none within another."""
    return list(dict.fromkeys(_found(model)))


def _found(module: nn.Module) -> Iterator[nn.Module]:
    if isinstance(module, nn.Sequential | nn.ModuleList):
        blocks = [each for each in module if _is_block(each)]
        if len(blocks) >= _FEWEST_BLOCKS:
            yield from blocks
            return
        if _is_chain(module):
            yield module
            return
    for child in module.children():
        yield from _found(child)


def _is_block(module: nn.Module) -> bool:
    has_parts = next(module.children(), None) is not None
    return has_parts and next(module.parameters(), None) is not None and not isinstance(module, nn.ModuleList)


def _is_chain(module: nn.Module) -> bool:
    is_plain = isinstance(module, nn.Sequential) and type(module).forward is nn.Sequential.forward
    return is_plain and len(list(module.children())) >= FEWEST_LAYERS


@contextlib.contextmanager
def run_again(blocks: Sequence[nn.Module]) -> Iterator[None]:
    """Let blocks keep no activations while they are called here; the backward computes them again.

    Random numbers are drawn again as they were, and buffers that a forward changes, such as the running statistics of
    batch norm, are changed once.
    """
    forwards = {each: _chained(each) if _is_chain(each) else again_in_backward(each.forward, [each]) for each in blocks}
    with other_forwards(forwards):
        yield


def _chained(chain: nn.Module) -> Callable[[Any], Any]:
    """Return the forward of a chain in about as many segments as each has layers: least memory for one more forward."""
    layers = list(chain.children())
    number = round(math.sqrt(len(layers)))
    edges = [len(layers) * i // number for i in range(number + 1)]
    segments = [layers[start:end] for start, end in itertools.pairwise(edges)]

    def forward(value: Any) -> Any:
        for segment in segments:
            value = again_in_backward(_in_turn(segment), segment)(value)
        return value

    return forward


def _in_turn(layers: Sequence[nn.Module]) -> Callable[[Any], Any]:
    def forward(value: Any) -> Any:
        for layer in layers:
            value = layer(value)
        return value

    return forward


def again_in_backward(forward: Callable[..., Any], modules: Sequence[nn.Module]) -> Callable[..., Any]:
    """Return a forward that keeps nothing but its arguments, and is run again when the backward comes by.

    Args:
        forward: What is run.
        modules: Those whose buffers it may change.
    """

    def run(*args: Any, **kwargs: Any) -> Any:
        if not torch.is_grad_enabled():
            return forward(*args, **kwargs)
        buffers = _Buffers(modules)
        contexts = lambda: (buffers.first(), buffers.again())  # noqa: E731 - asked for in this form
        return checkpoint(forward, *args, use_reentrant=False, context_fn=contexts, **kwargs)

    return run


class _Buffers:
    """The buffers that a forward changes, as they were before it."""

    def __init__(self, modules: Sequence[nn.Module]) -> None:
        # In evaluation mode a forward changes none.
        self._owners = [each for module in modules for each in module.modules() if each.training]
        self._before: list[tuple[nn.Module, dict[str, torch.Tensor]]] = []

    @contextlib.contextmanager
    def first(self) -> Iterator[None]:
        seen = [(each, dict(_buffers(each)), _versions(each), _clones(each)) for each in self._owners]
        yield
        for owner, buffers, versions, clones in seen:
            is_same = all(now is buffers.get(name) for name, now in _buffers(owner).items())
            is_small = sum(each.nbytes for each in clones.values()) <= _MOST_BYTES
            if is_small or not is_same or versions != _versions(owner):
                self._before.append((owner, clones))

    @contextlib.contextmanager
    def again(self) -> Iterator[None]:
        with scratch_buffers(self._before):
            yield


@contextlib.contextmanager
def scratch_buffers(values: Sequence[tuple[nn.Module, dict[str, torch.Tensor]]]) -> Iterator[None]:
    """Let modules work on copies of given buffers; afterwards each has its own again, untouched."""
    own = [(module, dict(_buffers(module))) for module, _ in values]
    try:
        for module, buffers in values:
            module._buffers.update({name: each.clone() for name, each in buffers.items()})  # noqa: SLF001
        yield
    finally:
        for module, buffers in own:
            module._buffers.update(buffers)  # noqa: SLF001


def buffers_now(model: nn.Module) -> list[tuple[nn.Module, dict[str, torch.Tensor]]]:
    """Return the modules of a model that have buffers, with these."""
    return [(each, _buffers(each)) for each in model.modules() if _buffers(each)]


def _buffers(module: nn.Module) -> dict[str, torch.Tensor]:
    return {name: each for name, each in module._buffers.items() if each is not None}  # noqa: SLF001


def _versions(module: nn.Module) -> list[int]:
    return [each._version for each in _buffers(module).values() if not each.is_inference()]  # noqa: SLF001


def _clones(module: nn.Module) -> dict[str, torch.Tensor]:
    return {name: each.detach().clone() for name, each in _buffers(module).items()}
