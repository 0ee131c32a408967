"""This file tells which batches a rank is given, so that ranks that are given the same ones can be known."""

from array import array
from collections.abc import Iterator
from typing import Any

from torchmagic.probes.loaders import Loader, Loaders
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.taps import Taps
from torchmagic.records.ranks import LoaderPassRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.batch import fields_in, has_values
from torchmagic.tensors.checksum import checksums, digits

# Passes of a loader, batches of a pass, and of these the batches of which the values are looked at.
MOST_PASSES, MOST_BATCHES, MOST_CONTENTS = 64, 64, 8
# Of a larger batch so many values count, evenly spread over all its samples: which ones it holds shows in those.
MOST_VALUES = 1 << 16
# A sampler in a sampler in a sampler is followed so far.
DEEPEST = 4
# What samplers call the number of ranks and their own.
REPLICAS, REPLICA = ("num_replicas", "num_processes"), ("rank", "process_index")


class _Pass:
    """One pass of this rank over a loader."""

    def __init__(self, loader: Loader, iterator: Any, step: int) -> None:
        self.loader, self.number, self.step = loader, loader.epoch, step
        self.samplers = list(_samplers(iterator))
        self.epoch = next((each.epoch for each in self.samplers if isinstance(getattr(each, "epoch", None), int)), None)
        self.stream = type(self.samplers[0]).__name__ == "_InfiniteConstantSampler"
        self.indices: list[str] = []
        self.contents: list[str] = []
        self.batches = self.trained = 0
        self.finished = False

    def record(self) -> LoaderPassRecord:
        known = self.loader.record
        replicas, replica = _first(self.samplers, REPLICAS), _first(self.samplers, REPLICA)
        return LoaderPassRecord(
            loader=self.loader.name,
            number=self.number,
            step=self.step,
            num_batches=self.batches,
            num_trained=self.trained,
            finished=self.finished,
            batch_size=known.batch_size,
            num_samples=known.num_samples,
            num_expected=known.num_batches,
            samplers=tuple(type(each).__name__ for each in self.samplers),
            sharded=None if self.stream else replicas is not None,
            replicas=replicas or 0,
            replica=-1 if replica is None else replica,
            shuffle=known.shuffle,
            epoch=self.epoch,
            indices=tuple(self.indices),
            contents=tuple(self.contents),
        )


class RankBatches:
    """Records ``LoaderPassRecord`` as each pass over a loader ends; of the last one as the run does."""

    flush = nothing_waits

    def __init__(self, loaders: Loaders) -> None:
        self._loaders = loaders
        self._recorder: Recorder | None = None
        self._open: dict[str, _Pass] = {}
        self._iterators: dict[int, _Pass] = {}
        self._newest: _Pass | None = None

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for batches, and for the backwards that follow them."""
        self._recorder = recorder
        taps.on("batch", self._batch)
        taps.on("exhausted", self._exhausted)
        taps.on("backward_begin", self._backward)

    def detach(self) -> None:
        """Hand over the passes that were under way."""
        for name in tuple(self._open):
            self._close(name)
        self._recorder = self._newest = None
        self._iterators.clear()

    def _batch(self, iterator: Any, batch: Any, nanoseconds: int) -> None:
        loader, recorder = self._loaders.current, self._recorder
        if loader is None or recorder is None:
            return
        current = self._open.get(loader.name)
        if current is None or current.number != loader.epoch:
            self._close(loader.name)
            if loader.epoch >= MOST_PASSES:
                self._newest = None
                return
            current = self._open[loader.name] = _Pass(loader, iterator, recorder.step)
            self._iterators = {key: each for key, each in self._iterators.items() if each in self._open.values()}
            self._iterators[id(iterator)] = current
        self._newest = current
        current.batches += 1
        if loader.indices is not None and not current.stream and len(current.indices) < MOST_BATCHES:
            current.indices.append(_digest_of(loader.indices))
        if len(current.contents) < MOST_CONTENTS:
            current.contents.append(_contents(batch))

    def _exhausted(self, iterator: Any) -> None:
        current = self._iterators.pop(id(iterator), None)
        if current is not None and self._open.get(current.loader.name) is current:
            current.finished = True
            self._close(current.loader.name)

    def _backward(self, tensors: Any, frame: Any) -> None:
        if self._newest is not None:
            self._newest.trained += 1
            self._newest = None

    def _close(self, name: str) -> None:
        current = self._open.pop(name, None)
        if current is not None and self._recorder is not None:
            self._recorder.add(current.record())


def _samplers(iterator: Any) -> Iterator[Any]:
    """Yield what draws for a loader, and what that draws from in turn, the outermost first."""
    sampler = iterator._index_sampler
    for _ in range(DEEPEST):
        yield sampler
        inner = getattr(sampler, "batch_sampler", None) or getattr(sampler, "sampler", None)
        if inner is None or inner is sampler:
            return
        sampler = inner


def _first(samplers: list[Any], names: tuple[str, ...]) -> int | None:
    found = (getattr(each, name, None) for each in samplers for name in names)
    return next((int(each) for each in found if isinstance(each, int)), None)


def _digest_of(indices: Any) -> str:
    try:
        return digits(array("q", indices if isinstance(indices, (list, tuple)) else [indices]).tobytes())
    except (TypeError, OverflowError, ValueError):
        return digits(repr(indices).encode())


def _contents(batch: Any) -> str:
    """Return a digest of the first tensor of a batch; empty where it has none whose values lie on the host."""
    tensor = next((each for _, each in fields_in(batch) if has_values(each)), None)
    if tensor is None or tensor.device.type != "cpu":
        return ""
    flat = tensor.detach().view(-1) if tensor.is_contiguous() else tensor.detach()
    apart = max(1, flat.numel() // MOST_VALUES)
    return checksums([flat[::apart] if flat.dim() == 1 else flat])[0]
