"""This file keeps what a device that stops at an assertion no longer tells: which label, or which index, it was.

A kernel that meets a label which is no class, or an index outside of its table, stops the device. Its error says
neither which, nor where: it comes at whatever line waits next. https://docs.pytorch.org/docs/stable/notes/cuda.html
"""

from collections.abc import Iterator
from dataclasses import replace
from types import CodeType, FrameType
from typing import Any, NamedTuple

import torch
from torch import nn

from torchmagic.probes.cast import Cast
from torchmagic.probes.crash_frames import facts
from torchmagic.probes.crash_values import Extent, counted
from torchmagic.probes.expressions import arguments
from torchmagic.probes.module_parts import named_modules_of
from torchmagic.probes.sites import Site, place_of, site_of, user_frame
from torchmagic.probes.taps import Taps
from torchmagic.records.crash import CrashKind, CrashSiteRecord, TensorFact
from torchmagic.session.recorder import Recorder
from torchmagic.tensors import accelerators
from torchmagic.tensors.glance import tensors_in

# Losses whose kernel asserts that each target is a class, and functions that assert that each index is a row.
OF_CLASSES = frozenset({"cross_entropy", "nll_loss", "multi_margin_loss"})
OF_ROWS = frozenset({"embedding", "embedding_bag"})
# A loss ignores this target unless it is told otherwise.
IGNORED = -100
# Of a batch that lies on the host whole numbers are kept for a step, if they are no more than this.
MOST_VALUES, MOST_TENSORS = 1 << 16, 8
# So many steps that went well say which numbers of a batch are neither labels nor indices.
FIRST_STEPS = 4


class _Call(NamedTuple):
    """A loss that was given classes on a device."""

    site: Site | None
    name: str
    operands: tuple[TensorFact, ...]
    classes: int
    ignored: Any


class DeviceAsserts:
    """Remembers, for one step, the losses of classes on a device, and the whole numbers of the batch on the host.

    Args:
        cast: Models, of which the tables are looked up once a device has stopped.
    """

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._taps: Taps | None = None
        self._calls: list[_Call] = []
        self._whole: list[torch.Tensor] = []
        self._root: Site | None = None
        self._words: dict[tuple[CodeType, int], tuple[str, ...]] = {}
        self._on_host = False
        self._harmless: set[tuple[int, int]] = set()  # places in a batch, and limits that its numbers there may pass
        self._num_learned = 0
        self.over = False  # whether what is kept is of a step that has ended

    def attach(self, taps: Taps, _recorder: Recorder) -> None:
        """Listen for batches, models and losses, where there is a device that could stop."""
        self._taps = taps
        if not accelerators.are_possible():
            return
        taps.on("batch", self._batch)
        taps.on("root_begin", self._model)
        taps.on("loss", self._loss)

    def flush(self, _step: int) -> None:
        """Have the step forgotten as the next one begins: others may learn yet that the device was lost in this one."""
        self.over = True

    def _begin(self) -> None:
        """Forget the step before, which went well: something was heard after it."""
        self.over = False
        if self._calls and self._num_learned < FIRST_STEPS:
            self._learn()
        self._calls.clear()
        self._whole.clear()

    def _learn(self) -> None:
        """Learn from a step that went well what is no label and no index: it would have stopped the device."""
        self._num_learned += 1
        limits = {call.classes for call in self._calls} | {table.num_embeddings for _, table in self._tables()}
        self._harmless |= {
            (position, limit)
            for limit in limits
            for position, values in enumerate(self._whole)
            if counted(values, limit, Extent(), ignored=self._calls[0].ignored).num_bad
        }

    def detach(self) -> None:
        """Let go of everything."""
        self._taps = None
        self._calls.clear()
        self._whole.clear()

    def _batch(self, _loader: Any, batch: Any, _took: int) -> None:
        if self.over:
            self._begin()
        if self._on_host:
            return
        for tensor in tensors_in(batch):
            if tensor.device.type == "cpu" and not tensor.is_floating_point() and tensor.numel() <= MOST_VALUES:
                self._whole.append(tensor)
        del self._whole[:-MOST_TENSORS]

    def _model(self, _module: nn.Module, _args: Any, _kwargs: Any, frame: FrameType) -> None:
        if not self._on_host:
            self._root = site_of(frame)

    def _loss(self, name: str, args: Any, kwargs: Any, _output: Any, frame: FrameType) -> None:
        given = args[0] if args else kwargs.get("input")
        target = args[1] if len(args) > 1 else kwargs.get("target")
        if self.over:
            self._begin()
        if name not in OF_CLASSES or not isinstance(given, torch.Tensor) or not isinstance(target, torch.Tensor):
            return
        self._on_host = target.device.type == "cpu"
        if self._on_host or target.is_floating_point() or not given.dim():
            return
        words = (*self._named(frame), "", "")
        operands = facts([(words[0] or "input", given), (words[1] or "target", target)])
        classes = int(given.shape[1] if given.dim() > 1 else given.shape[0])
        self._calls.append(_Call(site_of(frame), name, operands, classes, kwargs.get("ignore_index", IGNORED)))
        del self._calls[:-MOST_TENSORS]

    def _named(self, frame: FrameType) -> tuple[str, ...]:
        """Return what the user's line gives a loss."""
        user = user_frame(frame)
        if user is None:
            return ()
        key = user.f_code, user.f_lasti
        if key not in self._words:
            self._words[key] = arguments(user)
        return self._words[key]

    def explained(self, scene: CrashSiteRecord) -> CrashSiteRecord:
        """Return the scene with the label or the index that stopped the device, as far as it is known.

        Args:
            scene: Where the user's code learned of it.
        """
        if self.over and self._taps is not None and not self._taps.lost:
            self._begin()
        if scene.operation in OF_CLASSES | OF_ROWS:  # the host was made to wait for each kernel
            return replace(scene, problem=CrashKind.LABEL if scene.operation in OF_CLASSES else CrashKind.INDEX)
        tables, calls = tuple(self._tables()), self._calls
        labels = [
            (call, extent)
            for call in calls
            for extent in self._out_of_range(call.classes, call.ignored, shape=call.operands[-1].shape)
        ]
        rows = [(table, extent) for table in tables for extent in self._out_of_range(table[1].num_embeddings)]
        if not labels and not rows:  # nothing is known of the numbers
            labels = [(call, Extent(limit=call.classes)) for call in calls[-1:]]
            rows = [(table, Extent(limit=table[1].num_embeddings)) for table in tables]
        if labels and not rows:
            return _of_label(scene, *labels[-1])
        if len(rows) == 1 and not labels:
            return self._of_index(scene, *rows[0])
        return scene

    def _out_of_range(
        self, limit: int, ignored: Any = None, *, shape: tuple[int, ...] | None = None
    ) -> Iterator[Extent]:
        """Yield what is out of range in the batch as it was on the host; of one shape, where it is known."""
        for position, values in enumerate(self._whole):
            if (position, limit) not in self._harmless and (shape is None or tuple(values.shape) == shape):
                found = counted(values, limit, Extent(), ignored=ignored)
                if found.num_bad:
                    yield found

    def _tables(self) -> Iterator[tuple[str, nn.Embedding | nn.EmbeddingBag]]:
        for model in self._cast.models:
            root = model.ref()
            for _, module in named_modules_of(root) if root is not None else ():
                if isinstance(module, nn.Embedding | nn.EmbeddingBag) and module.weight.device.type != "cpu":
                    yield self._cast.path_of(module) or type(module).__name__, module

    def _of_index(
        self, scene: CrashSiteRecord, named: tuple[str, nn.Embedding | nn.EmbeddingBag], extent: Extent
    ) -> CrashSiteRecord:
        path, table = named
        return replace(
            scene,
            problem=CrashKind.INDEX,
            noticed=scene.place,
            place=place_of(self._root) or scene.place,
            called=None,
            expression="",
            module=path,
            class_name=type(table).__name__,
            is_torchs=True,
            settings={"num_embeddings": str(table.num_embeddings), "embedding_dim": str(table.embedding_dim)},
            tensors=(),
            **extent._asdict(),
        )


def _of_label(scene: CrashSiteRecord, call: _Call, extent: Extent) -> CrashSiteRecord:
    return replace(
        scene,
        problem=CrashKind.LABEL,
        noticed=scene.place,
        place=place_of(call.site) or scene.place,
        called=None,
        expression="",
        module=None,
        operation=call.name,
        operands=call.operands,
        tensors=call.operands,
        **extent._asdict(),
    )
