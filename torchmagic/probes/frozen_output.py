"""This file watches for a frozen layer between a loss and all that trains."""

import math
from collections.abc import Sequence
from types import FrameType
from typing import Any

import torch
from torch import nn

from torchmagic.probes.cast import Cast
from torchmagic.probes.graph_walk import leaves, saved
from torchmagic.probes.module_parts import modules_of, own_parameters_of, parameters_of
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.reach import Reach
from torchmagic.probes.sites import place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.records.connection import FrozenOutputRecord
from torchmagic.session.recorder import Recorder

# Looks at models with frozen layers, and records, after which no more is learnt.
MOST_LOOKS, MOST_RECORDS = 8, 4
# A layer's first values are written once, in place; a step or a state that is loaded writes again.
MOST_WRITES = 2
# torch's layers begin with values drawn evenly from [-1/sqrt(n), 1/sqrt(n)], n values a unit: their deviation is this
# share of the limit, and by how much a sample of so many values may miss it.
EVEN, TOLERANCE = 1 / math.sqrt(3), 0.5


class FrozenOutput:
    """Records ``FrozenOutputRecord`` for a layer that every way from a loss to a trainable parameter leads through."""

    flush = nothing_waits

    def __init__(self, cast: Cast, reach: Reach) -> None:
        self._cast = cast
        self._recorder: Recorder | None = None
        self._looks = 0
        self._told: set[str] = set()
        reach.lookers.append(self._look)

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Nothing to listen for: graphs that are walked anyway are enough."""
        self._recorder = recorder

    def detach(self) -> None:
        """Let go of everything."""
        self._recorder = None

    def _look(
        self, roots: Sequence[torch.Tensor], nodes: Sequence[Any], ends: Sequence[torch.Tensor], frame: FrameType
    ) -> None:
        recorder = self._recorder
        if recorder is None or self._looks >= MOST_LOOKS or len(self._told) >= MOST_RECORDS:
            return
        reached = {id(leaf) for leaf in ends}
        frozen = self._frozen(reached)
        if not frozen:
            return
        self._looks += 1
        node, module, path = self._last(roots, frozen)
        if module is None or path in self._told or _trains_beside(roots, node):
            return
        self._told.add(path)
        recorder.add(
            FrozenOutputRecord(
                module=path,
                class_name=type(module).__name__,
                num_parameters=sum(1 for _ in parameters_of(module)),
                untrained=_is_untrained(module),
                num_training=len(reached & self._parameters(path)),
                step=recorder.step,
                place=place_of(site_of(frame)),
            )
        )

    def _frozen(self, reached: set[int]) -> dict[int, tuple[nn.Module, str]]:
        """Return the frozen layers of models that train, by where their weights lie in memory."""
        found: dict[int, tuple[nn.Module, str]] = {}
        for model in self._cast.models:
            root = model.ref()
            parameters = [] if root is None else list(parameters_of(root))
            some = any(not each.requires_grad for each in parameters)
            if root is None or not some or not any(id(each) in reached for each in parameters):
                continue
            for module in modules_of(root):
                own = own_parameters_of(module)
                path = model.paths.get(id(module))
                if own and path is not None and all(_readable(each) and not each.requires_grad for each in own):
                    found |= {each.untyped_storage().data_ptr(): (module, path) for each in own if each.dim() > 1}
        return found

    @staticmethod
    def _last(
        roots: Sequence[torch.Tensor], frozen: dict[int, tuple[nn.Module, str]]
    ) -> tuple[Any, nn.Module | None, str]:
        """Return the frozen layer nearest to a loss, and the node of its operator."""
        level, seen = [root.grad_fn for root in roots if root.grad_fn is not None], set()
        while level:
            following = []
            for node in level:
                if node in seen:
                    continue
                seen.add(node)
                for tensor in saved([node]).tensors:
                    layer = frozen.get(tensor.untyped_storage().data_ptr()) if _readable(tensor) else None
                    if layer is not None:
                        return node, *layer
                following += [parent for parent, _ in node.next_functions if parent is not None]
            level = following
        return None, None, ""

    def _parameters(self, path: str) -> set[int]:
        model = next((each for each in self._cast.models if path.startswith(each.name)), None)
        refs = model.parameters.values() if model is not None else ()
        return {id(tensor) for ref in refs if (tensor := ref()) is not None}


def _trains_beside(roots: Sequence[torch.Tensor], node: Any) -> bool:
    """Whether a trainable leaf can be reached from a loss without passing through a node."""
    todo = [root.grad_fn for root in roots if root.grad_fn is not None]
    seen = {node}
    while todo:
        each = todo.pop()
        if each not in seen:
            seen.add(each)
            todo += [parent for parent, _ in each.next_functions if parent is not None]
    seen.discard(node)
    return next(leaves(seen), None) is not None


def _is_untrained(module: nn.Module) -> bool:
    """Whether a layer's values are those with which torch's layers begin."""
    own = own_parameters_of(module)
    if any(each._version > MOST_WRITES for each in own):
        return False
    weight = next((each.detach() for each in own if each.dim() > 1), None)
    if weight is None or not weight.numel():
        return False
    bias = next((each.detach() for each in own if each.dim() == 1), None)
    if bias is not None and not bias.any():
        return bool(weight.any())
    limit = 1 / math.sqrt(weight[0].numel())
    sigma, largest = weight.float().std(unbiased=False).item(), weight.abs().max().item()
    allowed = TOLERANCE * EVEN / math.sqrt(weight.numel() / 4)
    return largest <= limit * 1.001 and abs(sigma / limit - EVEN) <= max(allowed, 0.02)


def _readable(tensor: torch.Tensor) -> bool:
    return tensor.layout is torch.strided and not tensor.is_meta and type(tensor) in (torch.Tensor, nn.Parameter)
