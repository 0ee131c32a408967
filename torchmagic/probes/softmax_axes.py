"""This file looks at the dimension over which each softmax normalises: not the batch, and the one that is summed."""

from types import FrameType
from typing import Any, NamedTuple

import torch
from torch import nn

from torchmagic.probes.cast import Cast
from torchmagic.probes.graph_walk import walk
from torchmagic.probes.loss_values import axis_of
from torchmagic.probes.module_parts import modules_of
from torchmagic.probes.picks import picks
from torchmagic.probes.producers import Producers
from torchmagic.probes.sites import Site, place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.probes.weighted_sums import mismatches
from torchmagic.records.loss import SoftmaxAxisRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.glance import tensors_in
from torchmagic.tensors.presence import has_shape

# What hardly changes is seen in the first steps; the ones after them only make sure.
FIRST_STEPS = 6
NEVER = 1 << 60
MOST_RECORDS = 12
# A graph of more nodes is not searched for weighted sums, and not in more steps than this.
MOST_NODES, SEARCHED_STEPS = 4000, 3
TIME_FIRST = (nn.RNNBase, nn.MultiheadAttention)
MOST_DIMS_WITHOUT_TIME = 2


class _Softmax(NamedTuple):
    """A softmax, and whether it stands inside a model."""

    function: str
    shape: tuple[int, ...]
    dim: int
    module: str | None
    site: Site | None
    inside: bool


class SoftmaxAxes:
    """Records a ``SoftmaxAxisRecord`` for each softmax of the first steps that normalises over an odd dimension.

    Args:
        cast: Tells the modules' paths.
        producers: Tells where a softmax stands.
    """

    def __init__(self, cast: Cast, producers: Producers) -> None:
        self._cast, self._producers = cast, producers
        self._taps: Taps | None = None
        self._recorder: Recorder | None = None
        self._over: dict[tuple[Any, ...], _Softmax] = {}
        self._given = self._returned = 0
        self._any = False
        self._records = 0

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for calls of models, softmaxes and backward passes."""
        self._taps, self._recorder = taps, recorder
        taps.on("root_begin", self._begin)
        taps.on("softmax", self._softmax)
        taps.on("root_end", self._end)
        taps.on("backward_begin", self._backward)

    def flush(self, step: int) -> None:
        """Forget the step's softmaxes; after the first steps all is known."""
        self._over.clear()
        self._any = False
        if step >= FIRST_STEPS and self._taps is not None:
            self._taps.rest(self, until=NEVER)

    def detach(self) -> None:
        """Let go of everything."""
        self._over.clear()

    def _begin(self, module: nn.Module, args: Any, kwargs: Any, frame: FrameType) -> None:
        given = next((each for each in (*args, *kwargs.values()) if has_shape(each) and each.dim()), None)
        self._given = given.shape[0] if given is not None and not _is_time_first(module, given) else 0

    def _end(self, module: nn.Module, args: Any, kwargs: Any, output: Any, nanoseconds: int) -> None:
        found = tensors_in(output)
        self._returned = found[0].shape[0] if found and found[0].dim() else 0

    def _softmax(self, output: Any, frame: FrameType) -> None:
        node = output.grad_fn if isinstance(output, torch.Tensor) else None
        if node is None or self._taps is None or not node.name().startswith(("Softmax", "LogSoftmax")):
            return
        self._any = True
        shape = tuple(output.shape)
        dim = axis_of(node, len(shape))
        is_alone = output.numel() > 1 and shape[dim] == 1
        if is_alone or (len(shape) > 1 and dim == 0 and shape[0] > 1 and shape[0] not in shape[1:]):
            stack = self._taps.stack
            module = self._cast.path_of(stack[-1]) if stack else None
            self._over[node, shape] = _Softmax(_function(node), shape, dim, module, site_of(frame), bool(stack))

    def _backward(self, tensors: Any, frame: FrameType) -> None:
        if not self._any or self._recorder is None or self._records >= MOST_RECORDS:
            return
        over, self._over, self._any = self._over, {}, False
        alone = next((each for each in over.values() if each.shape[each.dim] == 1), None)
        if alone is not None:
            self._add(alone, reason="alone", wanted=None)
        batchwise = set()
        for key, each in over.items():
            counts = each.inside or each.function == "log_softmax"
            if each.dim == 0 and 1 < each.shape[0] == self._given == self._returned and counts:
                self._add(each, reason="batch", wanted=None)
                batchwise.add(key)
        if self._recorder.step < SEARCHED_STEPS:
            nodes = walk(tensors, most=MOST_NODES).nodes
            picked = [each for each in picks(nodes) if (each.node, each.shape) not in batchwise]
            for found in (*mismatches(nodes), *picked):
                module, site = self._producers.of(found.node)
                softmax = _Softmax(_function(found.node), found.shape, found.dim, module, site, inside=True)
                self._add(softmax, reason=found.reason, wanted=found.wanted)

    def _add(self, softmax: _Softmax, *, reason: str, wanted: int | None) -> None:
        if self._recorder is None:
            return
        self._records += 1
        self._recorder.add(
            SoftmaxAxisRecord(
                step=self._recorder.step,
                function=softmax.function,
                reason=reason,
                dim=softmax.dim,
                wanted=wanted,
                shape=softmax.shape,
                module=softmax.module,
                place=place_of(softmax.site),
            )
        )


def _function(node: Any) -> str:
    return "log_softmax" if node.name().startswith("Log") else "softmax"


def _is_time_first(module: nn.Module, given: torch.Tensor) -> bool:
    """Whether the first dimension of a model's input may be time."""
    if given.is_floating_point() and given.dim() <= MOST_DIMS_WITHOUT_TIME:
        return False
    return any(isinstance(part, TIME_FIRST) and not part.batch_first for part in modules_of(module))
