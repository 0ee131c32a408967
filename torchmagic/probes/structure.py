"""This file looks at how layers are put together: affine ones in succession, norms of one sample, last dropouts."""

import weakref
from typing import Any

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.conv import _ConvNd, _ConvTransposeNd

from torchmagic.probes.cast import Cast
from torchmagic.probes.consumers import Consumers, number_of
from torchmagic.probes.dropped_outputs import DroppedOutputs
from torchmagic.probes.forwards import Forwards
from torchmagic.probes.graph_walk import walk
from torchmagic.probes.leaves import Leaves, Look
from torchmagic.probes.pacing import Pacer, next_look
from torchmagic.probes.taps import Taps
from torchmagic.probes.wrappers import now
from torchmagic.records.structure import DirectFollowRecord, SingleSampleRecord
from torchmagic.session.recorder import Recorder

# What these compute is known; a subclass with a forward of its own may hold an activation.
AFFINE = (nn.Linear.forward, nn.Conv1d.forward, nn.Conv2d.forward, nn.Conv3d.forward)
# A graph of more nodes is not walked for this.
MOST_NODES = 5_000
# Graphs that are walked: two steps tell, later ones do the same.
MOST_WALKS = 3

Affine = nn.Linear | _ConvNd


class _Pair:
    """Two affine modules, the second of which was given the first one's very output."""

    def __init__(self, first: Affine, second: Affine, paths: tuple[str, str]) -> None:
        self.paths = paths
        self.classes = type(first).__name__, type(second).__name__
        self.sizes = _fan_in(first), _channels(second)[0], _channels(second)[1]
        self.is_plain = _is_plain(first) and _is_plain(second) and not _is_split(first, second)
        self.num_seen = 0
        self.of_library = False


class Structure:
    """Records, as the run ends, what training forwards showed.

    ``DirectFollowRecord``, ``SingleSampleRecord`` and ``DroppedOutputRecord``.
    """

    def __init__(self, cast: Cast, taps: Taps, leaves: Leaves, pacer: Pacer) -> None:
        self._cast, self._taps, self._pacer = cast, taps, pacer
        self._look = Look(leaves, taps)
        self._recorder: Recorder | None = None
        self._dropped, self._forwards = DroppedOutputs(cast), Forwards(cast)
        # Of each output of an affine module in this step: the tensor, its version, and the module.
        self._made: dict[int, tuple[weakref.ref[torch.Tensor], int, Affine]] = {}
        self._waiting: list[tuple[tuple[int, int], Affine, Affine]] = []
        self._pairs: dict[tuple[str, str], _Pair] = {}
        self._norms: dict[str, list[Any]] = {}
        self._walks = 0
        self._target: weakref.ref[torch.Tensor] | None = None
        self._num_losses = self._num_same = 0

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for the innermost modules and for backwards."""
        self._recorder = recorder
        taps.on("leaf", self._see)
        taps.on("loss", self._lost)
        taps.on("backward_begin", self._go_back)
        self._look.switch(on=True)

    def flush(self, step: int) -> None:
        """Decide whether the next step is looked at."""
        if self._look.is_on or self._look.took:
            self._pacer.pay("structure", self._look.cost())
        self._made.clear()
        self._dropped.clear()
        self._waiting.clear()
        following = next_look(step)
        self._look.switch(on=following == step + 1)
        self._taps.rest(self, until=following - 1)  # awake one step early, to have the leaves shown

    def detach(self) -> None:
        """Hand over what was seen."""
        self._look.switch(on=False)
        self._made.clear()
        self._waiting.clear()
        if self._recorder is None:
            return
        for pair in self._pairs.values():
            self._recorder.add(_follow_record(pair, self._walks))
        self._dropped.record(self._recorder)
        same = 0 < self._num_same == self._num_losses - 1
        for path, (name, total, single) in self._norms.items():
            if single:
                self._recorder.add(
                    SingleSampleRecord(
                        module=path, class_name=name, num_forwards=total, num_single=single, same_target=same
                    )
                )
        self._recorder = None

    def _see(self, module: nn.Module, args: Any, output: Any) -> None:
        if not self._look.counts():
            return
        began = now()
        given = args[0] if args else None
        if isinstance(given, torch.Tensor) and isinstance(output, torch.Tensor):
            if getattr(type(module), "forward", None) in AFFINE:  # TorchScript has it of each instance
                self._follow(module, given, output)  # type: ignore[arg-type] # its forward is an affine module's
            elif isinstance(module, _BatchNorm) and module.training and given.dim():
                self._count(module, given)
            self._dropped.see(module, output)
        self._look.took += now() - began

    def _follow(self, module: Affine, given: torch.Tensor, output: torch.Tensor) -> None:
        if self._walks >= MOST_WALKS or output.grad_fn is None:
            return
        made = self._made.get(id(given))
        # An activation in place leaves the tensor the same, but not its version.
        if made is not None and made[0]() is given and made[1] == given._version and given.grad_fn is not None:
            numbers = number_of(given.grad_fn), number_of(output.grad_fn)
            self._waiting.append((numbers, made[2], module))
        self._made[id(output)] = weakref.ref(output), output._version, module

    def _count(self, module: nn.Module, given: torch.Tensor) -> None:
        path = self._cast.path_of(module)
        if path is not None:
            row = self._norms.setdefault(path, [type(module).__name__, 0, 0])
            row[1] += 1
            row[2] += given.shape[0] == 1

    def _lost(self, name: str, args: Any, kwargs: Any, output: Any, frame: Any) -> None:
        if self._recorder is not None:
            self._dropped.lost(name, args[0] if args else kwargs.get("input"), frame, self._recorder.step)
        target = args[1] if len(args) > 1 else kwargs.get("target")
        if isinstance(target, torch.Tensor):
            self._num_losses += 1
            self._num_same += self._target is not None and self._target() is target
            self._target = weakref.ref(target)

    def _go_back(self, tensors: Any, frame: Any) -> None:
        """Count who works on the outputs between: what several do is shared, as by queries and keys, or by a skip."""
        if not self._look.is_on or not self._made or self._walks >= MOST_WALKS:
            return
        began = now()
        self._walks += 1
        waiting, self._waiting = self._waiting, []
        self._made.clear()
        found = walk(tensors, most=MOST_NODES) if waiting else None
        if found is not None and found.complete:
            consumers = Consumers(found.nodes)
            for (between, after), first, second in waiting:
                # queries, keys and values in one layer are as they are in three: each works on the same features
                if len(consumers.of(between)) == 1 and not consumers.attends(after):
                    self._meet(first, second)
        self._look.took += now() - began

    def _meet(self, first: Affine, second: Affine) -> None:
        paths = self._cast.path_of(first), self._cast.path_of(second)
        if paths[0] is None or paths[1] is None:
            return
        key = (paths[0], paths[1])
        pair = self._pairs.get(key)
        if pair is None:
            pair = self._pairs[key] = _Pair(first, second, key)
            pair.of_library = self._forwards.are_librarys(key[1], whole=True)
        pair.num_seen += 1


def _follow_record(pair: _Pair, walks: int) -> DirectFollowRecord:
    return DirectFollowRecord(
        first=pair.paths[0],
        second=pair.paths[1],
        first_class=pair.classes[0],
        second_class=pair.classes[1],
        num_in=pair.sizes[0],
        num_middle=pair.sizes[1],
        num_out=pair.sizes[2],
        is_plain=pair.is_plain,
        num_seen=pair.num_seen,
        num_forwards=walks,
        of_library=pair.of_library,
    )


def _channels(module: Affine) -> tuple[int, int]:
    if isinstance(module, nn.Linear):
        return module.in_features, module.out_features
    return module.in_channels, module.out_channels


def _fan_in(module: Affine) -> int:
    return _channels(module)[0]


def _is_plain(module: Affine) -> bool:
    """Whether a module is no part of a factorised or resampling layer."""
    if isinstance(module, nn.Linear):
        return True
    if isinstance(module, _ConvTransposeNd) or module.groups > 1:
        return False
    kernel, stride = module.kernel_size, module.stride
    # Patches that do not overlap are cut, and downsampling is learned, on purpose without an activation.
    return not (max(stride) > 1 and tuple(kernel) == tuple(stride))


def _is_split(first: Affine, second: Affine) -> bool:
    """Whether two convolutions are the factors of one, such as 1 by 3 and 3 by 1."""
    if not isinstance(first, _ConvNd) or not isinstance(second, _ConvNd):
        return False
    return any(len(set(kernel)) > 1 for kernel in (first.kernel_size, second.kernel_size))
