"""This file discovers data loaders, and follows their passes: each batch's wait, and which samples it is made of."""

import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import FrameType
from typing import Any

from torchmagic.probes.cast import Cast
from torchmagic.probes.loader_settings import Datasets, record_of
from torchmagic.probes.notebook_text import line_making
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.sites import Site, is_users, place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.probes.weak_table import WeakTable
from torchmagic.records.feeding import LoaderUseRecord
from torchmagic.records.model import LoaderRecord
from torchmagic.session.recorder import Recorder

# A loader that is made anew for each pass is one loader; so many of a name and line are told apart by their datasets.
MOST_ALIKE = 8
# Passes remembered before those whose iterator is gone are forgotten.
MOST_PASSES = 64


class Loader:
    """A loader that took part: its name, and where it stands.

    Attributes:
        epoch: Passes begun, less one.
        position: Batches of this pass so far.
        count: Batches of all passes so far.
        indices: What the sampler drew for the newest batch; None where that is not known.
        trained: Batches on which a backward followed.
    """

    def __init__(self, record: LoaderRecord, site: Site | None) -> None:
        self.record, self.site = record, site
        self.name = record.name
        self.subject = (record.name,)
        self.epoch = -1
        self.position = 0
        self.count = 0
        self.indices: Any = None
        self.trained = 0
        self._sites: dict[Site, int] = {}
        self._single = self._empty = 0

    def begin(self, site: Site | None) -> None:
        """Begin a pass at a line."""
        self._single += self.position == 1
        self.epoch += 1
        self.position = 0
        if site is not None:
            self._sites[site] = self._sites.get(site, 0) + 1

    def end_empty(self) -> None:
        """Take in that a pass had no batch at all."""
        self._empty += 1

    def use(self) -> LoaderUseRecord:
        """Return how it was used in the whole run."""
        usual = max(self._sites, key=lambda site: self._sites[site], default=None)
        return LoaderUseRecord(
            loader=self.name,
            num_passes=self.epoch + 1,
            num_batches=self.count,
            num_single=self._single + (self.position == 1),
            num_empty=self._empty,
            num_trained=self.trained,
            place=place_of(usual),
        )

    def index_of(self, row: int | None, num_rows: int) -> int | None:
        """Return the dataset's index of a row of the newest batch; None where the loader does not tell."""
        if isinstance(self.indices, int):
            return self.indices
        if row is None or not isinstance(self.indices, Sequence) or len(self.indices) != num_rows:
            return None
        index = self.indices[row]
        return index if isinstance(index, int) else None


class _Pass:
    """One iterator: its loader, once that is known, and what was drawn for batches that have not come yet."""

    def __init__(self, iterator: Any) -> None:
        self.ref = weakref.ref(iterator)
        self.loader: Loader | None = None
        self.drawn: dict[int, Any] = {}
        self.ordered = getattr(iterator, "_in_order", True)


class Loaders:
    """Records ``LoaderRecord`` once a loader; each batch its ``batch_wait``; each pass its ``epoch_batches``.

    At the end it records a ``LoaderUseRecord`` of each loader.
    ``epoch_start_seconds`` is how long a pass took to begin, such as for starting workers. All are per loader, and
    times are seconds.

    Attributes:
        current: The loader that gave the newest batch.
        served: Batches given by all loaders so far.
    """

    flush = nothing_waits

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._recorder: Recorder | None = None
        self._datasets = Datasets()
        self._known: dict[int, tuple[Callable[[], Any], Loader]] = {}
        self._passes: dict[int, _Pass] = {}
        self._made: WeakTable[Any, Site | None] = WeakTable()
        self.all: list[Loader] = []
        self.current: Loader | None = None
        self.served = 0

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for passes, draws and batches."""
        self._recorder = recorder
        taps.on("epoch", self._begin)
        taps.on("indices", self._draw)
        taps.on("batch", self._batch)
        taps.on("loader_built", self._build)
        taps.on("exhausted", self._exhaust)

    def detach(self) -> None:
        """Hand over the passes that were under way, and let go of everything."""
        for loader in self.all:
            self._end_pass(loader)
            if self._recorder is not None:
                self._recorder.add(loader.use())
        self._recorder = None
        self._known.clear()
        self._passes.clear()
        self._made.clear()

    def _build(self, loader: Any, frame: FrameType) -> None:
        self._made[loader] = site_of(frame)

    def _exhaust(self, iterator: Any) -> None:
        loader = self._pass(iterator).loader
        if loader is not None and not loader.position:
            loader.end_empty()

    def _begin(self, loader: Any, iterator: Any, nanoseconds: int, frame: FrameType) -> None:
        if getattr(iterator, "_index_sampler", None) is None or self._recorder is None:
            return  # a loader of another kind that borrows torch's class
        current = self._pass(iterator)
        site = site_of(frame)
        current.loader = self._meet(loader, iterator, site, None if is_users(frame) else iterator._dataset)
        self._end_pass(current.loader)
        current.loader.begin(site)
        self._recorder.append("epoch_start_seconds", (nanoseconds / 1e9,), current.loader.subject)

    def _draw(self, iterator: Any, index: Any) -> None:
        current = self._pass(iterator)
        if current.ordered:  # workers draw ahead, by number; one process draws as it loads
            current.drawn[getattr(iterator, "_send_idx", 0)] = index

    def _batch(self, iterator: Any, batch: Any, nanoseconds: int) -> None:
        if self._recorder is None:
            return
        current = self._pass(iterator)
        loader = current.loader
        if loader is None:  # it began before the run did, or in a way of its own
            loader = current.loader = self._meet(None, iterator, None)
            loader.begin(None)
        loader.position += 1
        loader.count += 1
        loader.indices = current.drawn.pop(getattr(iterator, "_rcvd_idx", 1) - 1, None)
        self.current = loader
        self.served += 1
        self._recorder.append("batch_wait", (nanoseconds / 1e9,), loader.subject)

    def _pass(self, iterator: Any) -> _Pass:
        known = self._passes.get(id(iterator))
        if known is None or known.ref() is not iterator:
            if len(self._passes) >= MOST_PASSES:
                self._passes = {key: each for key, each in self._passes.items() if each.ref() is not None}
            known = self._passes[id(iterator)] = _Pass(iterator)
        return known

    def _end_pass(self, loader: Loader) -> None:
        if loader.epoch >= 0 and self._recorder is not None:
            self._recorder.append("epoch_batches", (loader.position,), loader.subject)

    def _meet(self, loader: Any, iterator: Any, site: Site | None, dataset: Any = None) -> Loader:
        sampler = iterator._index_sampler  # every iterator of a loader has the loader's own
        known = self._known.get(id(sampler))
        if known is not None and known[0]() is sampler:
            return known[1]
        if len(self._known) >= MOST_PASSES:
            self._known = {key: each for key, each in self._known.items() if each[0]() is not None}
        name = self._cast.names.of_loader(sampler, dataset)
        record = record_of(loader, iterator, name, site, self._datasets)
        made = self._made.get(loader) if loader is not None else None
        found = self._like(record, site) or self._new(replace(record, made=place_of(made), made_before=not made), site)
        self._known[id(sampler)] = _reference(sampler), found
        return found

    def _like(self, record: LoaderRecord, site: Site | None) -> Loader | None:
        """Return the loader of which this is another copy, made for another pass."""
        alike = [each for each in self.all if each.record.name.partition("#")[0] == record.name and each.site == site]
        same = [each for each in alike if each.record.dataset_number == record.dataset_number]
        if site is None or not (same or len(alike) >= MOST_ALIKE):
            return None
        return (same or alike)[-1]

    def _new(self, record: LoaderRecord, site: Site | None) -> Loader:
        taken = {each.name for each in self.all}
        name, number = record.name, 2
        while name in taken:
            name, number = f"{record.name}#{number}", number + 1
        if record.made_before:
            record = replace(record, made=line_making(record.name, "DataLoader"))
        found = Loader(replace(record, name=name), site)
        self.all.append(found)
        if self._recorder is not None:
            self._recorder.add(found.record)
        return found


def _reference(sampler: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(sampler)
    except TypeError:  # a plain list of batches; it is held until the run ends, and is small
        return lambda: sampler
