"""This file measures what memory is used for: parameters, gradients, optimizer state, activations, the batch."""

from collections.abc import Iterator
from typing import Any

import psutil
import torch
from torch.nn.parameter import is_lazy

from torchmagic.probes.cast import Cast
from torchmagic.probes.graph_walk import saved, walk
from torchmagic.probes.module_parts import modules_of
from torchmagic.probes.pacing import Pacer, next_look
from torchmagic.probes.storages import BlockRefs, Ledger, tensors_in
from torchmagic.probes.taps import Taps
from torchmagic.probes.wrappers import now
from torchmagic.records.memory import UnseenGraphRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.accelerators import allocated_bytes

CATEGORIES = ("parameters", "gradients", "optimizer state", "activations", "batch", "other")
# What memory is used for hardly changes: the first steps, powers of two, and each so many steps.
FIRST_STEPS, BETWEEN = 4, 64
# Backward passes that are looked at in one step; micro-batches are alike.
MOST_BACKWARDS = 4


class Categories:
    """Records ``memory_bytes`` by category, at the moment of a step at which they are largest together.

    The two moments looked at are the start of a backward, when the whole graph is there, and the end of the step, when
    gradients and state are. Buffers count with the parameters; each storage counts once, under the first category that
    has it; only those on the device of the parameters count. ``other`` is what is allocated there beside them: on a
    CPU all that the process has resident, on CUDA what the allocator has handed out.
    """

    def __init__(self, cast: Cast, pacer: Pacer) -> None:
        self._cast, self._pacer = cast, pacer
        self._recorder: Recorder | None = None
        self._taps: Taps | None = None
        self._looking = True
        self._backwards = self._took = 0
        self._batch = BlockRefs()
        self._peak: list[int] = []
        self._known_unseen: set[str] = set()
        self._too_large = False

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for what comes in, and for backward passes."""
        self._taps, self._recorder = taps, recorder
        taps.on("batch", self._loaded)
        taps.on("root_begin", self._called)
        taps.on("loss", self._compared)
        taps.on("backward_begin", self._backward)

    def flush(self, step: int) -> None:
        """Look a last time, hand over the larger moment, and decide whether the next step is looked at."""
        if self._looking and self._recorder is not None:
            began = now()
            self._look(self._device(), [])
            if self._peak and not self._too_large:
                self._recorder.append("memory_bytes", self._peak, CATEGORIES)
            self._pacer.pay("memory", self._took + now() - began)
            self._batch.clear()
        self._peak, self._backwards, self._took = [], 0, 0
        following = step + 1
        due = following < FIRST_STEPS or following & (following - 1) == 0 or following % BETWEEN == 0
        self._looking = due and not self._too_large and self._pacer.wants("memory")
        if not self._looking and self._taps is not None:
            self._taps.rest(self, until=next_look(step) - 1)  # awake one step early, to decide about the next

    def detach(self) -> None:
        """Let go of everything."""
        self._looking = False
        self._batch.clear()

    def _loaded(self, loader: Any, batch: Any, nanoseconds: int) -> None:
        if self._looking:
            self._remember(batch)

    def _called(self, module: Any, args: Any, kwargs: Any, frame: Any) -> None:
        if self._looking:
            self._remember((args, kwargs))

    def _compared(self, name: str, args: Any, kwargs: Any, output: Any, frame: Any) -> None:
        if self._looking:
            self._remember((args, kwargs))

    def _remember(self, value: Any) -> None:
        """Take what needs no gradient for the batch."""
        began = now()
        self._batch.add(tensor for tensor in tensors_in(value) if not tensor.requires_grad)
        self._took += now() - began

    def _backward(self, tensors: Any, frame: Any) -> None:
        if not self._looking or self._backwards >= MOST_BACKWARDS or self._too_large:
            return
        if self._taps is None or self._taps.depth:  # inside another backward, as activation checkpointing has it
            return
        began = now()
        self._backwards += 1
        graph = walk(tensors)
        if graph.complete:
            held = saved(graph.nodes)
            self._tell(held.unseen)
            self._look(self._device(tensors), held.tensors)
        else:
            self._too_large = True
            self._tell(frozenset())
        self._took += now() - began

    def _look(self, device: torch.device | None, held: list[torch.Tensor]) -> None:
        """Count each category as it stands, and keep the row if there is none larger."""
        if device is None:
            return
        ledger = Ledger(device)
        parameters = list(self._parameters())
        row = [
            ledger.claim([*parameters, *self._buffers()]),
            ledger.claim(tensor.grad for tensor in parameters if tensor.is_leaf and tensor.grad is not None),
            ledger.claim(self._states()),
        ]
        batch = ledger.claim_blocks(self._batch.alive())
        row += [ledger.claim(held), batch]
        if not self._peak or sum(row) > sum(self._peak[:-1]):
            self._peak = [*row, max(0, _allocated(device) - sum(row))]

    def _parameters(self) -> Iterator[torch.Tensor]:
        for model in self._cast.models:
            yield from (tensor for ref in model.parameters.values() if (tensor := ref()) is not None)
        for entry in self._cast.optimizers:
            yield from (owned for ref in entry.refs if (owned := ref()) is not None)

    def _buffers(self) -> Iterator[torch.Tensor]:
        for model in self._cast.models:
            module = model.ref()
            if module is not None:
                for part in modules_of(module):
                    yield from (buffer for buffer in part._buffers.values() if buffer is not None)

    def _states(self) -> Iterator[torch.Tensor]:
        for entry in self._cast.optimizers:
            optimizer = entry.ref()
            if optimizer is not None:
                for state in list(optimizer.state.values()):
                    yield from tensors_in(state)

    def _device(self, tensors: Any = None) -> torch.device | None:
        """Return the device on which most of the parameters lie, that of the loss where there are none."""
        sizes: dict[torch.device, int] = {}
        for tensor in self._parameters():
            if not is_lazy(tensor):
                sizes[tensor.device] = sizes.get(tensor.device, 0) + tensor.numel() * tensor.element_size()
        if sizes:
            return max(sizes, key=lambda device: sizes[device])
        return next((tensor.device for tensor in tensors_in(tensors)), None)

    def _tell(self, unseen: frozenset[str]) -> None:
        """Say once what is left out."""
        if self._recorder is not None and (self._too_large or unseen - self._known_unseen):
            self._known_unseen |= unseen
            nodes = tuple(sorted(unseen))
            self._recorder.add(UnseenGraphRecord(step=self._recorder.step, nodes=nodes, complete=not self._too_large))


def _allocated(device: torch.device) -> int:
    """Return the bytes that a device has handed out, or, for a CPU, that the process has resident."""
    return int(psutil.Process().memory_info().rss) if device.type == "cpu" else allocated_bytes(device)
