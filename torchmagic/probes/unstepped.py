"""This file watches optimizers that never step although their parameters get gradients."""

import itertools
import weakref
from collections import Counter
from collections.abc import Iterator
from types import FrameType
from typing import Any

import torch

from torchmagic.probes.branches import step_in_branch
from torchmagic.probes.cast import Cast
from torchmagic.probes.gradient_readers import any_reads, files_around
from torchmagic.probes.names import within
from torchmagic.probes.pacing import next_window
from torchmagic.probes.sites import Site, place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.probes.weak_table import WeakTable
from torchmagic.records.loop import UnsteppedRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.genuine import is_optimizer
from torchmagic.tensors.presence import is_transformed
from torchmagic.tensors.reduce import norms

# Backward passes that are counted, and parameters that stand for all.
MOST_ITERATIONS, FEW = 64, 8
# Counts at which it is seen whether the parameters have changed.
LOOKS = frozenset({2, 4, 8, 16, 32, MOST_ITERATIONS})
# Optimizers that are followed at a time, and of them those that the run has not touched.
MOST_OPTIMIZERS, MOST_UNTOUCHED = 16, 8
# An optimizer that is reset and never stepped is met at one of these steps of the others.
FIRST_STEPS, BETWEEN_LOOKS = 4, 16


class _Waiting:
    """An optimizer that has not stepped yet."""

    def __init__(self, optimizer: torch.optim.Optimizer, name: str) -> None:
        self.ref = weakref.ref(optimizer)
        self.name, self.class_name = name, type(optimizer).__name__
        self.iterations = self.resets = self.scheduled = self.looks = self.wiped = 0
        self.built = self.changed = False
        self.lengths: list[float] = []
        self.held: list[tuple[int, int]] = []
        self.after: list[tuple[int, int]] | None = None  # what the last backward left
        self.evaluated = False
        self.sites: Counter[Site | None] = Counter()
        self.schedule: Site | None = None

    @property
    def used(self) -> bool:
        """Whether the run has touched it."""
        return bool(self.resets or self.scheduled or self.built)

    def parameters(self) -> list[torch.Tensor]:
        """Return some of its parameters."""
        optimizer = self.ref()
        return [] if optimizer is None else _some(optimizer)


class Unstepped:
    """Records ``UnsteppedRecord`` as the run ends.

    An optimizer is followed from when it is first used: built, reset by ``zero_grad``, or moved by a scheduler; one
    that an earlier cell has made and that the user has a name for, from the first backward.
    """

    def __init__(self, cast: Cast) -> None:
        self._cast, self._names = cast, cast.names
        self._taps: Taps | None = None
        self._recorder: Recorder | None = None
        self._waiting: dict[int, _Waiting] = {}
        self._stepped: WeakTable[torch.optim.Optimizer, None] = WeakTable()
        self._met = False
        self._site: Site | None = None
        self._before: list[tuple[torch.optim.Optimizer, list[tuple[int, int]]]] = []
        self._shared: set[Site | None] = set()  # backward passes that reach what other optimizers step
        self._files: dict[Site | None, tuple[str, ...]] = {}  # around each backward

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for what uses an optimizer, and for what should be followed by its step."""
        self._taps, self._recorder = taps, recorder
        taps.turn.partings.append(self._waiting.clear)
        taps.on("optimizer_built", self._built)
        taps.on("reset", self._resets)
        taps.on("schedule_built", self._scheduler_built)
        taps.on("scheduled", self._scheduled)
        taps.on("backward_end", self._backward)
        taps.on("backward_begin", self._backward_begins)
        taps.on("step_begin", self._steps)
        taps.on("scaler_step_begin", self._scaler_steps)

    def flush(self, step: int) -> None:
        """Let some steps go by while every optimizer that is used has stepped."""
        if not self._waiting and step >= FIRST_STEPS and self._taps is not None:
            self._taps.rest(self, until=next_window(step, width=BETWEEN_LOOKS))

    def detach(self) -> None:
        """Hand over those that never stepped."""
        recorder, self._recorder = self._recorder, None
        if recorder is None:
            return
        for each in self._waiting.values():
            if each.iterations:
                self._compare(each)
                optimizer = each.ref()
                if optimizer is not None:  # it may have got a name since it was met
                    each.name = self._names.of_optimizer(optimizer, None)
                recorder.add(self._record(each))
        self._waiting.clear()

    def _record(self, entry: _Waiting) -> UnsteppedRecord:
        alone = {site: times for site, times in entry.sites.items() if site not in self._shared}
        site = next(iter(alone or entry.sites))
        return UnsteppedRecord(
            optimizer=entry.name,
            class_name=entry.class_name,
            iterations=entry.iterations,
            resets=entry.resets,
            scheduled=entry.scheduled,
            built=entry.built,
            changed=entry.changed,
            backward=place_of(site),
            schedule=place_of(entry.schedule),
            module=self._module_of(entry),
            alone=sum(alone.values()),
            wiped=entry.wiped,
            evaluated=entry.evaluated,
            inspected=any(any_reads(self._files.get(each, ())) for each in entry.sites),
            waiting=step_in_branch(site, entry.name),
        )

    def _module_of(self, entry: _Waiting) -> str:
        """Return the innermost module that has all parameters of an optimizer."""
        names = {id(ref()): name for model in self._cast.models for name, ref in model.parameters.items()}
        owned = [names.get(id(each), "") for each in entry.parameters()]
        parts = [name.split(".")[:-1] for name in owned]
        common = itertools.takewhile(lambda level: len(set(level)) == 1, zip(*parts, strict=False))
        return ".".join(level[0] for level in common)

    def _entry(self, optimizer: Any) -> _Waiting | None:
        """Return what is known of an optimizer; None for one that has stepped."""
        if not is_optimizer(optimizer) or optimizer in self._stepped:
            return None
        entry = self._waiting.get(id(optimizer))
        if entry is None or entry.ref() is not optimizer:
            if len(self._waiting) >= MOST_OPTIMIZERS and id(optimizer) not in self._waiting:
                return None
            entry = self._waiting[id(optimizer)] = _Waiting(optimizer, self._names.of_optimizer(optimizer, None))
        return entry

    def _built(self, optimizer: Any, frame: FrameType) -> None:
        entry = self._entry(optimizer)
        if entry is not None:
            entry.built = True

    def _resets(self, owner: Any, frame: FrameType) -> None:
        entry = self._entry(owner)
        if entry is not None:
            entry.resets += 1

    def _scheduler_built(self, scheduler: Any, frame: FrameType) -> None:
        self._entry(getattr(scheduler, "optimizer", None))

    def _scheduled(self, scheduler: Any, frame: FrameType) -> None:
        entry = self._entry(getattr(scheduler, "optimizer", None))
        if entry is not None:
            entry.scheduled += 1
            entry.schedule = entry.schedule or site_of(frame)

    def _steps(self, optimizer: torch.optim.Optimizer, frame: FrameType) -> None:
        self._stepped[optimizer] = None
        self._waiting.pop(id(optimizer), None)

    def _scaler_steps(self, scaler: Any, optimizer: Any, frame: FrameType) -> None:
        if is_optimizer(optimizer):
            self._steps(optimizer, frame)

    def _backward_begins(self, tensors: Any, frame: FrameType) -> None:
        if not self._met:
            self._met = True
            self._meet()
        followed = list(self._open())
        if not followed:
            return
        self._site = site_of(frame)
        if self._site not in self._files:
            self._files[self._site] = files_around(frame)
        self._before = [(each, _held(_some(each))) for each, _ in self._stepped.items()]
        for entry in followed:
            entry.held = _held(entry.parameters())
            entry.wiped += entry.after is not None and entry.held != entry.after
            if not entry.iterations and not entry.lengths:
                entry.lengths = _lengths(entry)

    def _backward(self, tensors: Any, nanoseconds: int) -> None:
        for entry in self._open():
            held, entry.looks = _held(entry.parameters()), entry.looks + 1
            if held not in ([], entry.held):
                entry.iterations, entry.after = entry.iterations + 1, held
                entry.sites[self._site] += 1
                if entry.iterations in LOOKS:
                    self._compare(entry)
        if any(_held(_some(optimizer)) not in ([], held) for optimizer, held in self._before):
            self._shared.add(self._site)
        self._before = []

    def _meet(self) -> None:
        """Follow optimizers that an earlier cell has made; of two that own the same parameters, the later one."""
        named = [within(each) for _, each in self._names.of_kind(torch.optim.Optimizer)]
        latest = {id(_first(each)): each for each in named}
        for each in list(latest.values())[-MOST_UNTOUCHED:]:
            self._entry(each)

    def _open(self) -> Iterator[_Waiting]:
        """Yield those of which more is to be known; let go of those not in use, and of those that step in another."""
        for key, entry in list(self._waiting.items()):
            unused = not entry.used and not entry.iterations and entry.looks >= MOST_ITERATIONS
            if unused or (self._taps is not None and self._taps.nesting.is_related(entry.ref())):
                del self._waiting[key]
            elif entry.iterations < MOST_ITERATIONS:
                yield entry

    def _compare(self, entry: _Waiting) -> None:
        found = _lengths(entry)
        entry.changed = entry.changed or bool(found and found != entry.lengths)
        owned = {id(each) for each in entry.parameters()}
        for model in self._cast.models:
            module = model.ref()
            if module is not None and any(id(ref()) in owned for ref in model.parameters.values()):
                entry.evaluated = entry.evaluated or not module.training


def _held(parameters: list[torch.Tensor]) -> list[tuple[int, int]]:
    return [(id(p.grad), p.grad._version) for p in parameters if p.grad is not None]


def _lengths(entry: _Waiting) -> list[float]:
    some = [] if is_transformed() else entry.parameters()
    return norms([each.detach() for each in some if not torch.nn.parameter.is_lazy(each)])


def _some(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    found = [p for group in optimizer.param_groups for p in group["params"] if p.requires_grad]
    return found[:: len(found) // FEW or 1]


def _first(optimizer: torch.optim.Optimizer) -> Any:
    return next((p for group in optimizer.param_groups for p in group["params"]), optimizer)
