"""This file looks into the batches that loaders give: their values, batches that come again, samples that are bad."""

import math
import weakref
from typing import Any, NamedTuple

import torch

from torchmagic.probes.batch_facts import Facts
from torchmagic.probes.gradients import Gradients
from torchmagic.probes.loaders import Loader, Loaders
from torchmagic.probes.pacing import Pacer
from torchmagic.probes.taps import Taps
from torchmagic.probes.wrappers import now
from torchmagic.records.data import BadSampleRecord, Source
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.batch import Print, bad_rows, fields_in, fingerprint, has_values
from torchmagic.tensors.glance import MOST_TENSORS

# The first batches of a loader, and the first of its first passes, are looked at whatever they cost.
FIRST_BATCHES, FIRST_OF_A_PASS, FIRST_PASSES = 16, 4, 3
# Enough bad samples to go and look.
MOST_BAD = 16
# Batches of a pass that are compared with those of the pass before.
MOST_PRINTS = 256


class _Prints:
    """Fingerprints of a loader's passes, by position: the present one's and the one's before."""

    def __init__(self) -> None:
        self.epoch = 0
        self.before: dict[int, Print] = {}
        self.present: dict[int, Print] = {}


class _Newest(NamedTuple):
    """The newest batch, seen through weak references."""

    loader: Loader
    tensors: list[tuple[str, weakref.ref[torch.Tensor]]]


class Batches:
    """Records what loaders' batches hold, as ``Facts`` does, when the pace allows.

    Over passes, per loader:

    - ``order_repeated``: share of the batches compared that equal those at the same place of the pass before,
    - ``repeated_batches``: share of the batches compared that equal an earlier one of the same pass,
    - ``BadSampleRecord`` for samples that are not finite: when a batch is looked at, and when gradients are not finite.

    Attributes:
        newest: The newest batch, while it may still have to be looked at.
    """

    def __init__(self, loaders: Loaders, pacer: Pacer, gradients: Gradients | None) -> None:
        self._loaders, self._pacer, self._gradients = loaders, pacer, gradients
        self._facts = Facts(Source.LOADER)
        self._recorder: Recorder | None = None
        self._prints: dict[str, _Prints] = {}
        self.newest: _Newest | None = None
        self._bad = 0

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for batches."""
        self._recorder = recorder
        taps.on("batch", self._batch)

    def flush(self, step: int) -> None:
        """Look at the newest batch when the step's gradients were not finite, and let go of it."""
        newest, self.newest = self.newest, None
        total = self._gradients.total if self._gradients is not None else None
        if newest is None or total is None or math.isfinite(total) or self._bad >= MOST_BAD:
            return
        for field, ref in newest.tensors:
            tensor = ref()
            if tensor is not None and has_values(tensor):
                self._tell_bad(newest.loader, field, tensor)

    def detach(self) -> None:
        """Hand over what was counted, and let go of everything."""
        self.flush(0)
        if self._recorder is not None:
            for name, prints in self._prints.items():
                self._compare(name, prints)
            self._facts.tell_classes(self._recorder)
            self._recorder = None
        self._prints.clear()

    def _batch(self, iterator: Any, batch: Any, nanoseconds: int) -> None:
        loader = self._loaders.current
        if loader is None or self._recorder is None:
            return
        count = loader.count
        if (
            count > FIRST_BATCHES
            and count & (count - 1)
            and not (loader.epoch < FIRST_PASSES and loader.position <= FIRST_OF_A_PASS)
            and not self._pacer.wants("data")
        ):
            if self._gradients is not None and isinstance(batch, (tuple, list)):
                self.newest = _Newest(
                    loader, [(str(i), weakref.ref(each)) for i, each in enumerate(batch) if type(each) is torch.Tensor]
                )
            return
        began = now()
        self.newest = None
        self._look(self._recorder, loader, list(fields_in(batch))[:MOST_TENSORS])
        self._pacer.pay("data", now() - began)

    def _look(self, recorder: Recorder, loader: Loader, fields: list[tuple[str, torch.Tensor]]) -> None:
        for field, tensor in self._facts.look(recorder, loader.name, fields):
            self._tell_bad(loader, field, tensor)
        self._facts.count_classes(recorder, loader.name, fields)
        first = next((tensor for _, tensor in fields if has_values(tensor)), None)
        if first is None:
            return
        prints = self._prints.setdefault(loader.name, _Prints())
        if prints.epoch != loader.epoch:
            self._compare(loader.name, prints)
            prints.before = prints.present or prints.before
            prints.present, prints.epoch = {}, loader.epoch
        if len(prints.present) < MOST_PRINTS:
            prints.present[loader.position] = fingerprint(first)

    def _compare(self, name: str, prints: _Prints) -> None:
        """Compare a pass that is over with the one before, and its batches with each other."""
        if self._recorder is None:
            return
        both = prints.present.keys() & prints.before.keys()
        if both:
            same = sum(prints.present[place] == prints.before[place] for place in both)
            self._recorder.append("order_repeated", (same / len(both),), (name,))
        if len(prints.present) > 1:
            again = len(prints.present) - len(set(prints.present.values()))
            self._recorder.append("repeated_batches", (again / len(prints.present),), (name,))

    def _tell_bad(self, loader: Loader, field: str, tensor: torch.Tensor) -> None:
        if self._recorder is None:
            return
        for row, num_nan, num_infinite in bad_rows(tensor, MOST_BAD - self._bad):
            self._bad += 1
            self._recorder.add(
                BadSampleRecord(
                    loader=loader.name,
                    field=field,
                    step=self._recorder.step,
                    epoch=loader.epoch,
                    batch=loader.position - 1,
                    row=row,
                    index=loader.index_of(row, tensor.shape[0] if tensor.dim() else 0),
                    num_nan=num_nan,
                    num_infinite=num_infinite,
                )
            )
