"""This file looks at the pace: what steps take by their number of rows, and what starting a loader's workers takes."""

import time
import weakref
from collections import deque
from collections.abc import Mapping
from types import FrameType
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader

from torchmagic.probes.names import Names
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.sites import Site, place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.probes.timing import read_clocks
from torchmagic.probes.wrappers import now
from torchmagic.records.speed import BatchTime, BatchTimesRecord, WorkerStartRecord
from torchmagic.session.recorder import Recorder

# Numbers of rows told, and kept while a run goes on; steps of each of them whose times are kept, the newest.
MOST_SIZES, MOST_KEPT, MOST_STEPS = 8, 64, 64
# Steps without the profiler that have to be there to leave those with it out.
ENOUGH = 12
# Of a step's time, what its thread has to have worked, or the machine kept it waiting.
MIN_AT_WORK = 0.8
profiler_enabled = torch._C._autograd._profiler_enabled


class BatchTimes:
    """Records a ``BatchTimesRecord``; steps around an evaluation, and those that had to wait, are left out."""

    def __init__(self) -> None:
        self._taps: Taps | None = None
        self._recorder: Recorder | None = None
        self._times: dict[tuple[bool, int], deque[int]] = {}
        self._rows = self._before = self._left_out = self._spent = self._worked = 0
        self._mixed = False
        self._site: Site | None = None
        self._device = ""

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for models and batches."""
        self._taps, self._recorder = taps, recorder
        taps.on("root_begin", self._called)
        taps.on("batch", self._waited)

    def flush(self, step: int) -> None:
        """Take in what the step took."""
        if self._taps is None:
            return
        (moment, spent), worked = read_clocks(self._taps), time.thread_time_ns()
        whole = moment - self._before - self._left_out
        # A clock that is too coarse for a step says nothing, and zero.
        waited = 0 < worked - self._worked < MIN_AT_WORK * whole
        if self._before and self._rows and not self._mixed and not waited:
            key = (profiler_enabled(), self._rows)
            times = self._times.get(key)
            if times is None and len(self._times) < MOST_KEPT:
                times = self._times[key] = deque(maxlen=MOST_STEPS)
            if times is not None:
                times.append(whole - (spent - self._spent))
        self._before, self._spent, self._worked = moment, spent, worked
        self._rows = self._left_out = 0
        self._mixed = False

    def detach(self) -> None:
        """Hand over the times, and let go of everything."""
        recorder, self._recorder, self._taps = self._recorder, None, None
        counts = [sum(len(times) for (each, _), times in self._times.items() if each is how) for how in (False, True)]
        wanted = counts[0] < min(ENOUGH, counts[1])  # the profiler takes a part of each step
        chosen = [(rows, times) for (profiled, rows), times in self._times.items() if profiled is wanted]
        chosen.sort(key=lambda each: -len(each[1]))
        if recorder is not None and chosen:
            found = (BatchTime(rows=rows, steps=len(times), seconds=min(times) / 1e9) for rows, times in chosen)
            times = tuple(found)[:MOST_SIZES]
            recorder.add(BatchTimesRecord(times=times, device=self._device, place=place_of(self._site)))
        self._times.clear()

    def _called(self, module: nn.Module, args: Any, kwargs: Any, frame: FrameType) -> None:
        if self._taps is None or not self._taps.grad_enabled:
            self._mixed = True
            return
        tensor = next((each for each in (*args, *kwargs.values()) if isinstance(each, torch.Tensor)), None)
        if tensor is not None and tensor.dim():
            self._rows += tensor.shape[0]
        if not self._device:
            self._device = tensor.device.type if tensor is not None else ""
            self._site = site_of(frame)

    def _waited(self, iterator: Any, batch: Any, nanoseconds: int) -> None:
        self._left_out += nanoseconds


class _Starts:
    """What starting the workers of one loader took."""

    def __init__(self, loader: DataLoader[Any], name: str, site: Site | None) -> None:
        self.ref, self.name, self.site = weakref.ref(loader), name, site
        self.workers, self.persistent = loader.num_workers, bool(loader.persistent_workers)
        self.nanoseconds: list[int] = []

    def record(self, began: int) -> WorkerStartRecord:
        """Return what all passes took, of a run that began then (ns)."""
        return WorkerStartRecord(
            loader=self.name,
            workers=self.workers,
            passes=len(self.nanoseconds),
            seconds=sum(self.nanoseconds) / 1e9,
            first=self.nanoseconds[0] / 1e9,
            run_seconds=(now() - began) / 1e9,
            persistent=self.persistent,
            place=place_of(self.site),
        )


class WorkerStarts:
    """Records a ``WorkerStartRecord`` for each loader with workers.

    Args:
        namespace: The user's names.
    """

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self._names = Names(namespace)
        self._recorder: Recorder | None = None
        self._loaders: dict[int, _Starts] = {}
        self._begun: tuple[weakref.ref[Any], _Starts] | None = None
        self._began_at = 0

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for passes and batches."""
        self._recorder, self._began_at = recorder, now()
        taps.on("epoch", self._begin)
        taps.on("batch", self._came)

    flush = nothing_waits

    def detach(self) -> None:
        """Hand over the loaders, and let go of everything."""
        recorder, self._recorder = self._recorder, None
        for each in self._loaders.values():
            if recorder is not None:
                recorder.add(each.record(self._began_at))
        self._loaders.clear()
        self._begun = None

    def _begin(self, loader: DataLoader[Any], iterator: Any, nanoseconds: int, frame: FrameType) -> None:
        if not loader.num_workers:
            return
        known = self._loaders.get(id(loader))
        if known is None or known.ref() is not loader:
            name = self._names.of_loader(loader._index_sampler)
            known = self._loaders[id(loader)] = _Starts(loader, name, site_of(frame))
        known.nanoseconds.append(nanoseconds)
        self._begun = (weakref.ref(iterator), known)

    def _came(self, iterator: Any, batch: Any, nanoseconds: int) -> None:
        """Add the wait for the first batch of a pass."""
        if self._begun is not None and self._begun[0]() is iterator:
            self._begun[1].nanoseconds[-1] += nanoseconds
            self._begun = None
