"""This file follows the passes over data loaders, and tells now and then which one feeds the training, and how far."""

import weakref
from types import FrameType
from typing import Any, NamedTuple

from torch.utils.data import DataLoader, IterableDataset

from torchmagic.probes.asking import length_of
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.sites import Site, site_of
from torchmagic.probes.taps import Taps
from torchmagic.session.recorder import Recorder

# A loader feeds the training when at so many looks, and at this share of them, it gave a batch a step at least.
LEAST_LOOKS, LEAST_SHARE = 2, 0.8
# Lines and data sets remembered before those that are gone are forgotten.
MOST_LINES = 64


class Standing(NamedTuple):
    """How far a pass is: batches given, batches it has (None where unknown), and its number from 1 on."""

    batch: int
    batches: int | None
    epoch: int


class _Line:
    """A line that passes over a data set, whatever loader is made for it."""

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset
        self.passes = 0
        self.iterator: weakref.ref[Any] | None = None
        self.length: int | None = None
        self.looks = self.fed = 0
        self._seen = (0, 0)

    def begin(self, loader: Any, iterator: Any) -> None:
        self.passes += 1
        self.iterator = weakref.ref(iterator)
        self.length = _length(loader)

    @property
    def batch(self) -> int | None:
        """Batches of this pass so far; None when it is over and gone."""
        iterator = self.iterator() if self.iterator is not None else None
        return getattr(iterator, "_num_yielded", None)

    def look(self, num_steps: int) -> None:
        """Take in whether so many steps, made since the last look, were fed from here."""
        batch, (passes, before) = self.batch, self._seen
        if batch is None:
            return
        self._seen = self.passes, batch
        begun = self.passes - passes
        if begun and (self.length is None or not passes):
            return  # how many batches came in between is not known
        if begun and batch == self.length:
            return  # over already: it may have been an evaluation between two steps
        given = begun * (self.length or 0) + batch - before
        self.looks += 1
        self.fed += given >= num_steps


class Passes:
    """Hears each pass over a loader begin, and reads from the loader's own count how far it is when asked."""

    flush = nothing_waits

    def __init__(self) -> None:
        self._lines: dict[tuple[Site | None, int], _Line] = {}
        self._steps = 0

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for passes."""
        self._steps = recorder.step
        taps.on("epoch", self._begin)

    def detach(self) -> None:
        """Let go of everything."""
        self._lines.clear()

    def look(self, step: int) -> Standing | None:
        """Return how far the pass is that feeds the training; None where no single one is known to.

        Args:
            step: Steps made so far; to be called at the end of a step.
        """
        made, self._steps = step - self._steps, step
        if made > 0:
            for line in self._lines.values():
                line.look(made)
        feeding = [each for each in self._lines.values() if _feeds(each)]
        if not feeding:
            return None
        first = max(feeding, key=lambda each: each.fed)  # of equals the one that began first
        batch, batches = first.batch or 0, first.length
        alike = {(each.length, each.batch) for each in feeding if each.fed * 2 > first.fed}
        if len(alike) > 1 or (batches is not None and batch > batches):
            batches = None  # several loaders in step end with the shortest, or are begun anew: nobody can tell
        return Standing(batch, batches, first.passes)

    def _begin(self, loader: Any, iterator: Any, nanoseconds: int, frame: FrameType) -> None:
        if not isinstance(getattr(iterator, "_num_yielded", None), int):
            return  # a loader of another kind that borrows torch's class
        dataset = getattr(loader, "dataset", None)
        key = site_of(frame), id(dataset)
        line = self._lines.get(key)
        if line is None or line.dataset() is not dataset:
            if len(self._lines) >= MOST_LINES:
                self._lines = {key: each for key, each in self._lines.items() if each.batch is not None}
            line = self._lines[key] = _Line(_reference(dataset))
        line.begin(loader, iterator)


def _feeds(line: _Line) -> bool:
    return bool(line.batch) and line.fed >= LEAST_LOOKS and line.fed >= LEAST_SHARE * line.looks


def _length(loader: Any) -> int | None:
    """Return how many batches a pass has; None where the loader does not tell, or can only guess."""
    if not isinstance(loader, DataLoader) or isinstance(loader.dataset, IterableDataset):
        return None
    return length_of(loader)


def _reference(dataset: Any) -> Any:
    try:
        return weakref.ref(dataset)
    except TypeError:  # a plain list; it is held until the run ends, as its loader holds it
        return lambda: dataset
