"""This file is the loaders' marks: which loader each batch came from, and how busy its worker processes were."""

import os
import weakref
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import psutil

from torchmagic.probes.names import Names
from torchmagic.profiling.collected import BATCH, LoaderSite
from torchmagic.profiling.ranges import Ranges


class LoaderMarks:
    """Has the profiler note down each batch that comes.

    Args:
        ranges: Through which it is noted down.
        namespace: The user's names.
    """

    def __init__(self, ranges: Ranges, namespace: Mapping[str, Any]) -> None:
        self._ranges, self._names = ranges, Names(namespace)
        self._sites: list[LoaderSite] = []
        self._index: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._used: set[int] = set()
        self._before = 0.0

    def came(self, iterator: Any) -> None:
        """Note down that a loader's iterator gave a batch."""
        index = self._index.get(iterator)
        if index is None:
            site = LoaderSite(self._names.of_loader(iterator._index_sampler), int(iterator._num_workers))
            if site not in self._sites:
                self._sites.append(site)
            index = self._index[iterator] = self._sites.index(site)
        self._used.add(index)
        self._ranges.mark(f"{BATCH}{index}")

    def begin(self) -> None:
        """Begin a window."""
        self._used.clear()
        self._before = self._processor()

    def sites(self, seconds: float) -> list[LoaderSite]:
        """Return the loaders, by the index in their marks' names, as a window of so many seconds ends.

        The processor time is that of all child processes; where several loaders have workers, it is nobody's.
        """
        feeding = [index for index in self._used if self._sites[index].workers]
        if len(feeding) != 1 or seconds <= 0:
            return list(self._sites)
        site = self._sites[feeding[0]]
        busy = (self._processor() - self._before) / (seconds * site.workers)
        sites = list(self._sites)
        sites[feeding[0]] = site._replace(busy=min(max(busy, 0.0), 1.0))
        return sites

    def _processor(self) -> float:
        """Return the processor time of all workers so far: of those that have ended, and of those that live."""
        times = os.times()
        total = times.children_user + times.children_system
        for iterator in list(self._index):
            for worker in getattr(iterator, "_workers", ()):
                with suppress(psutil.Error, TypeError, ValueError):  # ended meanwhile, or not begun
                    spent = psutil.Process(worker.pid).cpu_times()
                    total += spent.user + spent.system
        return total
