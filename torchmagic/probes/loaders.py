"""This file discovers data loaders: each is recorded when its first batch is taken."""

import weakref
from collections.abc import Callable
from typing import Any

from torchmagic.probes.cast import Cast
from torchmagic.probes.taps import Taps
from torchmagic.records.model import LoaderRecord
from torchmagic.session.recorder import Recorder


class Loaders:
    """Records ``LoaderRecord`` once a loader, however many epochs iterate it."""

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._recorder: Recorder | None = None
        self._known: dict[int, Callable[[], Any]] = {}

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for batches."""
        self._recorder = recorder
        taps.on("batch", self._batch)

    def flush(self, step: int) -> None:
        """Nothing waits."""

    def detach(self) -> None:
        """Let go of everything."""
        self._known.clear()

    def _batch(self, iterator: Any, batch: Any, nanoseconds: int) -> None:
        sampler = iterator._index_sampler  # every iterator of a loader has the loader's own
        known = self._known.get(id(sampler))
        if self._recorder is None or (known is not None and known() is sampler):
            return
        self._known[id(sampler)] = _reference(sampler)
        self._recorder.add(
            LoaderRecord(
                name=self._cast.names.of_loader(sampler),
                batch_size=getattr(sampler, "batch_size", None),
                num_workers=iterator._num_workers,
                sampler=type(getattr(sampler, "sampler", sampler)).__name__,
                num_batches=_length(sampler),
            )
        )


def _reference(sampler: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(sampler)
    except TypeError:  # a plain list of batches; it is held until the run ends, and is small
        return lambda: sampler


def _length(sampler: Any) -> int | None:
    try:
        return len(sampler)
    except (TypeError, NotImplementedError):  # an endless stream has none
        return None
