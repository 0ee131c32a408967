"""This file watches states of models that are no copies: put to use when the weights in them are others already."""

import weakref
from dataclasses import replace
from types import FrameType
from typing import Any, NamedTuple

import torch
from torch import nn

from torchmagic.probes.expressions import receiver
from torchmagic.probes.module_parts import parameters_of
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.sites import Site, place_of, site_of, user_frame
from torchmagic.probes.storages import blocks_of, tensors_in
from torchmagic.probes.taps import Taps
from torchmagic.probes.weak_table import WeakTable
from torchmagic.records.state import AliasedStateRecord
from torchmagic.session.recorder import Recorder

# Lines that are told apart.
MOST_LINES = 16
# A state is a model's own where at least this share of the model's weights lie in its memory.
MOST_OF_IT = 0.5


class _Taken(NamedTuple):
    """A state as it was when it was taken: of which model, where, what that is called there, how often written to."""

    module: weakref.ref[nn.Module]
    site: Site | None
    source: str
    step: int
    writes: int
    loads: int


class States:
    """Records ``AliasedStateRecord`` as the run ends, for each line that put a state to use that was no copy.

    What ``state_dict()`` gives are the weights themselves: the steps after it change them there too. A state that was
    changed in place on purpose is told from one that was meant to keep by steps or other loads in between.
    """

    def __init__(self) -> None:
        self._recorder: Recorder | None = None
        self._taken: WeakTable[Any, _Taken] = WeakTable()  # by the first tensor of each state
        self._loads: WeakTable[nn.Module, int] = WeakTable()
        self._found: dict[Site, AliasedStateRecord] = {}
        self._same: dict[Site, int] = {}

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for states that are taken, loaded and saved."""
        self._recorder = recorder
        taps.on("state_taken", self._take)
        taps.on("state_loading", self._load)
        taps.on("saving", self._save)

    flush = nothing_waits

    def detach(self) -> None:
        """Record what was found, and let go of everything."""
        recorder, self._recorder = self._recorder, None
        if recorder is not None:
            for record in self._found.values():
                recorder.add(record)
        for table in (self._taken, self._loads, self._found, self._same):
            table.clear()

    def _take(self, module: nn.Module, state: Any, frame: FrameType) -> None:
        first = next(tensors_in(state), None)
        if first is None or self._recorder is None:
            return
        self._taken[first] = _Taken(
            weakref.ref(module),
            site_of(frame),
            _called(frame, "state_dict"),
            self._recorder.step,
            _writes(module),
            self._num_loads(module),
        )

    def _load(self, module: nn.Module, state: Any, frame: FrameType) -> None:
        first, taken = self._known(state)
        source, called = taken.module() if taken is not None else None, _called(frame, "load_state_dict")
        if taken is None or source is not module or not _is_of(module, state):
            self._loads[module] = self._num_loads(module) + 1
            if taken is not None and source is not None and self._is_late(taken, source, state):
                self._find("loaded", taken, called, frame)
        elif self._has_changed(taken, module):
            self._find("loaded", taken, called, frame)
        elif called and taken.source and called != taken.source:
            self._load_itself(taken, called, frame)
        else:  # which is written to by the load, and no other than before
            self._taken[first] = taken._replace(writes=taken.writes + sum(1 for _ in parameters_of(module)))

    def _load_itself(self, taken: _Taken, called: str, frame: FrameType) -> None:
        """Take note of a model that is given its own state under another name, which means something as it recurs."""
        site = site_of(frame)
        if site is None or taken.writes <= self._same.setdefault(site, taken.writes) or len(self._same) > MOST_LINES:
            return
        self._find("same", taken, called, frame)

    def _save(self, value: Any, frame: FrameType) -> None:
        _, taken = self._known(value)
        module = taken.module() if taken is not None else None
        if taken is not None and module is not None and self._is_late(taken, module, value):
            self._find("saved", taken, taken.source, frame)

    def _known(self, state: Any) -> tuple[torch.Tensor | None, _Taken | None]:
        """Return what is known of a state, and the tensor by which it is."""
        known = ((each, self._taken.get(each)) for each in tensors_in(state))
        return next(((each, taken) for each, taken in known if taken is not None), (None, None))

    def _is_late(self, taken: _Taken, module: nn.Module, state: Any) -> bool:
        """Whether a state was taken in the middle of a training, and the model has gone on in it."""
        return taken.step > 0 and self._has_stepped(taken, module) and _is_of(module, state)

    def _has_stepped(self, taken: _Taken, module: nn.Module) -> bool:
        """Whether a model was trained since its state was taken."""
        return self._recorder is not None and self._recorder.step > taken.step and _writes(module) > taken.writes

    def _has_changed(self, taken: _Taken, module: nn.Module) -> bool:
        """Whether a model was trained, or loaded with another state, since its state was taken."""
        return self._num_loads(module) != taken.loads or self._has_stepped(taken, module)

    def _num_loads(self, module: nn.Module) -> int:
        """Return how often a model was loaded with other weights than its own."""
        return self._loads.get(module) or 0

    def _find(self, how: str, taken: _Taken, model: str, frame: FrameType) -> None:
        site = site_of(frame)
        if site is None or self._recorder is None or (site not in self._found and len(self._found) >= MOST_LINES):
            return
        found = self._found.get(site) or AliasedStateRecord(
            model=model,
            how=how,
            source=taken.source,
            taken=place_of(taken.site),
            place=place_of(site),
            taken_step=taken.step,
            step=self._recorder.step,
            times=0,
        )
        self._found[site] = replace(found, times=found.times + 1)


def _called(frame: FrameType, method: str) -> str:
    """Return what a model is called where a method of it is; nothing where the user's line does not say."""
    found = user_frame(frame)
    return (receiver(found, method) or "") if found is not None else ""


def _writes(module: nn.Module) -> int:
    """Return how often the weights of a module were written to in place, as torch counts."""
    return sum(each._version for each in parameters_of(module) if not each.is_inference())


def _is_of(module: nn.Module, state: Any) -> bool:
    """Whether a state lies in the memory of a module's own weights."""
    own = {block for each in parameters_of(module) for block in blocks_of(each)}
    shared = own & {block for each in tensors_in(state) for block in blocks_of(each)}
    return bool(shared) and len(shared) >= MOST_OF_IT * len(own)
