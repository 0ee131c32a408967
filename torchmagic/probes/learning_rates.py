"""This file watches learning rates: each group's value as it is used, and the schedulers that change it."""

import weakref
from types import FrameType
from typing import Any

import torch
from torch.optim import lr_scheduler

from torchmagic.probes.asking import asked
from torchmagic.probes.cast import Cast
from torchmagic.probes.construction_lines import lines_of
from torchmagic.probes.expressions import receiver
from torchmagic.probes.names import within
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.schedule_facts import number_in, schedule_facts, steps_before
from torchmagic.probes.sites import Site, is_users, place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.records.schedule import ScheduleRecord
from torchmagic.session.recorder import Recorder

# A rate that stays is written down each so many steps, a power of two; so are rates that lie on a device.
BETWEEN = 64
# Schedulers that are told; a loop may build one for each fold.
MOST_SCHEDULES = 64


class _Rates:
    """The groups of one optimizer: their subjects, and the rates last written down."""

    def __init__(self, name: str, optimizer: torch.optim.Optimizer) -> None:
        count = len(optimizer.param_groups)
        self.ref = weakref.ref(optimizer)
        self.subjects = (name,) if count == 1 else tuple(f"{name}[{i}]" for i in range(count))
        self.told: list[float] | None = None
        self.used: list[float] = []
        self.steps = 0


class _Schedule:
    """A scheduler: where it was built, and how often it was stepped."""

    def __init__(self, scheduler: Any) -> None:
        self.ref = weakref.ref(scheduler)
        self.subject = ("",)
        self.built: Site | None = None
        self.steps = 0
        # what is told of a scheduler that is gone when the run ends, without ever having been stepped
        optimizer = within(asked(scheduler, "optimizer"))
        self.optimizer = weakref.ref(optimizer) if optimizer is not None else None
        self.part = False
        self.facts = schedule_facts(scheduler)


class LearningRates:
    """Records learning rates and schedules.

    - ``lr``, a subject a group (the optimizer, or ``opt[0]`` of several groups): the rate of a step, at the first and
      last step, whenever it changed, and each 64 steps; it holds until the next row.
    - ``schedule_steps``, a subject a scheduler: how often it was stepped, at each of its steps; ``schedule_metric``:
      the value that one was given to watch.
    - ``ScheduleRecord`` at a scheduler's first step, and at the end for those that were never stepped.
    """

    flush = nothing_waits

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._recorder: Recorder | None = None
        self._rates: dict[int, _Rates] = {}
        self._schedules: dict[int, _Schedule] = {}
        self._lost: list[_Schedule] = []
        self._scaled = False
        self._told = 0

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for steps of optimizers and schedulers."""
        self._recorder = recorder
        taps.on("step_begin", self._step)
        taps.on("schedule_built", self._built)
        taps.on("scheduled", self._scheduled)
        taps.on("schedule_metric", self._watches)
        taps.on("scaled", self._scale)

    def detach(self) -> None:
        """Hand over the last rates, and the schedules that were never stepped."""
        if self._recorder is not None:
            for rates in self._rates.values():
                if rates.used != rates.told or rates.steps & (BETWEEN - 1) != 1:
                    self._recorder.append("lr", rates.used, rates.subjects)
            self._tell_unstepped()
            self._recorder = None
        self._rates.clear()
        self._schedules.clear()

    def _step(self, optimizer: torch.optim.Optimizer, frame: FrameType) -> None:
        rates = self._rates.get(id(optimizer))
        groups = optimizer.param_groups
        if rates is None or rates.ref() is not optimizer or len(groups) != len(rates.subjects):
            rates = self._rates[id(optimizer)] = _Rates(self._cast.optimizer(optimizer).name, optimizer)
        due = not rates.steps & (BETWEEN - 1)
        rates.steps += 1
        present: list[Any] = [group.get("lr") for group in groups]
        if present == rates.told and not due and type(present[0]) is float:
            rates.used = present
            return
        rates.used = present = _numbers(present, rates.used, due=due)
        if self._recorder is not None and (due or present != rates.told):
            self._recorder.append("lr", present, rates.subjects)
            rates.told = present

    def usual(self, optimizer: torch.optim.Optimizer, rate: float) -> _Rates | None:
        """Return what is known of an optimizer of one group, where a step with this rate need only be counted."""
        rates = self._rates.get(id(optimizer))
        if rates is None or rates.ref() is not optimizer or rates.told != [rate] or not rates.steps & (BETWEEN - 1):
            return None
        return rates

    def _scale(self, tensor: Any, scaled: Any) -> None:
        self._scaled = True

    def _built(self, scheduler: Any, frame: FrameType) -> None:
        known = self._schedules.get(id(scheduler))
        if known is not None and known.ref() is scheduler:
            return
        if known is not None and known.ref() is None and not known.steps:
            self._lost.append(known)
        schedule = self._schedules[id(scheduler)] = _Schedule(scheduler)
        schedule.built = next(iter(lines_of(scheduler, frame)), None) or site_of(frame)

    def _scheduled(self, scheduler: Any, frame: FrameType) -> None:
        if self._recorder is None:
            return
        schedule = self._schedules.get(id(scheduler))
        if schedule is None or schedule.ref() is not scheduler:
            schedule = self._schedules[id(scheduler)] = _Schedule(scheduler)
        schedule.steps += 1
        if schedule.steps == 1:
            self._mark_parts(scheduler)
            name = self._name_of(scheduler, frame)
            schedule.subject = (name,)
            self._tell(schedule, scheduler, name, site_of(frame))
        self._recorder.append("schedule_steps", (schedule.steps,), schedule.subject)

    def _watches(self, scheduler: Any, metric: Any) -> None:
        schedule, value = self._schedules.get(id(scheduler)), number_in(metric)
        if self._recorder is not None and schedule is not None and value is not None:
            self._recorder.append("schedule_metric", (value,), schedule.subject)

    def _mark_parts(self, scheduler: Any) -> None:
        """Note the schedulers inside another one, which steps them."""
        for part in asked(scheduler, "_schedulers", ()):
            known = self._schedules.get(id(part))
            if known is not None and known.ref() is part:
                known.part = True

    def _tell(self, schedule: _Schedule, scheduler: Any, name: str, site: Site | None) -> None:
        self._told += 1
        if self._recorder is None or self._told > MOST_SCHEDULES:
            return
        optimizer = asked(scheduler, "optimizer")
        stepped = schedule.steps > 0
        facts = schedule.facts if scheduler is None else schedule_facts(scheduler)
        self._recorder.add(
            ScheduleRecord(
                name=name,
                optimizer=self._name_of_optimizer(schedule, within(optimizer)),
                step=self._recorder.step if stepped else None,
                stepped=stepped,
                before_optimizer=stepped and _is_early(optimizer),
                scaled=self._scaled,
                built=place_of(schedule.built),
                place=place_of(site),
                began=steps_before(scheduler) if stepped else 0,
                **facts,
            )
        )

    def _name_of_optimizer(self, schedule: _Schedule, optimizer: Any) -> str:
        """Return the name by which an optimizer is known, or will be once it steps."""
        known = next((entry.name for entry in self._cast.optimizers if entry.ref is schedule.optimizer), None)
        names = (name for name, value in self._cast.names.of_kind(type(optimizer)) if value is optimizer)
        return known or next(names, type(optimizer).__name__)

    def _tell_unstepped(self) -> None:
        """Record the schedulers that were built, or have a name, and never stepped though their optimizer did."""
        named = {id(value): (name, value) for name, value in self._cast.names.of_kind(lr_scheduler.LRScheduler)}
        parts: set[int] = set()
        found: dict[int, tuple[_Schedule, Any]] = {}
        for schedule in list(self._schedules.values()):
            if (scheduler := schedule.ref()) is not None:
                found[id(scheduler)] = schedule, scheduler
        for key, (_, value) in named.items():
            found.setdefault(key, (_Schedule(value), value))
        for _, scheduler in found.values():
            parts |= {id(part) for part in asked(scheduler, "_schedulers", ())}
        for key, (schedule, scheduler) in found.items():
            steps = self._rates.get(id(asked(scheduler, "optimizer")))
            if schedule.steps == 0 and key not in parts and steps is not None and steps.ref() is scheduler.optimizer:
                name = named[key][0] if key in named else type(scheduler).__name__
                self._tell(schedule, scheduler, name, None)
        used = {id(rates.ref) for rates in self._rates.values()}
        for schedule in [*self._lost, *self._schedules.values()]:
            gone = schedule.ref() is None and not schedule.steps and not schedule.part
            if gone and id(schedule.optimizer) in used:
                self._tell(schedule, None, schedule.facts["class_name"], None)

    def _name_of(self, scheduler: Any, frame: FrameType) -> str:
        """Return a name for a scheduler that steps, unlike those of the others alive."""
        names = (name for name, value in self._cast.names.of_kind(type(scheduler)) if value is scheduler)
        spelled = next(names, None) or (receiver(frame) if is_users(frame) else None) or type(scheduler).__name__
        alive = {each.subject[0] for each in self._schedules.values() if each.ref() is not None}
        name, number = spelled, 2
        while name in alive:
            name, number = f"{spelled}#{number}", number + 1
        return name


def _numbers(rates: list[Any], before: list[float], *, due: bool) -> list[float]:
    """Return rates as numbers; one that lies on a device is read when due, since that waits for the device."""
    found = []
    for i, rate in enumerate(rates):
        away = isinstance(rate, torch.Tensor) and rate.device.type != "cpu"
        known = before[i] if away and not due and i < len(before) else rate
        found.append(0.0 if known is None else float(known))  # some optimizers choose their own
    return found


def _is_early(optimizer: Any) -> bool:
    """Whether an optimizer has not stepped since a scheduler was built on it; torch notes that on the optimizer."""
    noted = hasattr(getattr(optimizer, "step", None), "_wrapped_by_lr_sched")
    return noted and not getattr(optimizer, "_opt_called", False)
