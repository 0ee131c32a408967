"""This file is what became slower or faster from one profile to another, per step and beyond the noise of the steps."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

from torchmagic.analyses.profile_steps import spread
from torchmagic.analyses.profile_window import PHASES, Window, phase_seconds, step_seconds
from torchmagic.records.costs import LineCost

# A mean of steps that lies so many of its errors away is no chance: of twenty comparisons none does by itself.
SURE = 3.0
# Two runs of the same code differ by this share, whatever their steps say: clocks and neighbours change.
LEAST_CHANGE = 0.05
# What changed by less than this share of a step is not worth a row.
LEAST_SHARE = 0.005
# Of fewer steps their spread says nothing.
LEAST_STEPS = 3
_INDEX = re.compile(r"(?<![^.])\d+(?![^.])")
_NOTHING: tuple[str, float | None] = ("", None)

Costs = dict[Hashable, tuple[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What one thing took before and takes now.

    Args:
        name: The thing.
        before: Seconds per step; None where it was not there.
        after: The same now; None where it is gone.
        noise: Seconds by which the two must differ to be more than chance and worth a word.
    """

    name: str
    before: float | None
    after: float | None
    noise: float = 0.0

    @property
    def seconds(self) -> float:
        """By how many seconds per step it became slower; negative where it became faster."""
        return (self.after or 0.0) - (self.before or 0.0)

    @property
    def is_sure(self) -> bool:
        """Whether it is more than chance and large enough to matter."""
        return abs(self.seconds) > self.noise


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What changed.

    Args:
        step: The usual step as a whole; where the window has no steps, all of it.
        phases: All phases that either profile has, in a usual step.
        modules: Modules that changed beyond the noise, each without those that it calls, those of most seconds first;
            where many of the same name but for numbers changed a little, a star stands for the numbers.
        lines: The same of lines, each without those that it calls.
        operators: The same of operators, by phase.
    """

    step: Change
    phases: tuple[Change, ...]
    modules: tuple[Change, ...]
    lines: tuple[Change, ...]
    operators: tuple[Change, ...]


def profile_difference(before: Window, after: Window) -> Difference:
    """Return what changed; times of windows of unequal length are compared per step."""
    whole = max(before.seconds, after.seconds)
    noise = max(LEAST_CHANGE, SURE * math.hypot(_error(_steps(before)), _error(_steps(after))))
    step = _changed("step", _usual(before), _usual(after), noise, whole)
    # sums hold the slow steps as well, which may be chance
    share = max(noise, _skew(before), _skew(after))

    def sure(costs: Callable[[Window], Costs]) -> tuple[Change, ...]:
        old, new = costs(before), costs(after)
        names = {key: name for key, (name, _) in [*old.items(), *new.items()]}
        changes = (
            _changed(name, old.get(key, _NOTHING)[1], new.get(key, _NOTHING)[1], share, whole)
            for key, name in names.items()
        )
        return tuple(sorted((each for each in changes if each.is_sure), key=lambda each: -abs(each.seconds)))

    return Difference(
        step=step,
        phases=_phases(before, after, whole),
        modules=_joined(sure(_modules), sure(_alike_modules)),
        lines=sure(_lines),
        operators=sure(_operators),
    )


def _joined(modules: tuple[Change, ...], alike: tuple[Change, ...]) -> tuple[Change, ...]:
    """Return modules, and those alike together where none of them is told by itself."""
    covered = {_INDEX.sub("*", each.name) for each in modules}
    found = [*modules, *(each for each in alike if each.name not in covered)]
    return tuple(sorted(found, key=lambda each: -abs(each.seconds)))


def _changed(name: str, before: float | None, after: float | None, share: float, whole: float) -> Change:
    noise = max(share * max(before or 0.0, after or 0.0), LEAST_SHARE * whole)
    return Change(name=name, before=before, after=after, noise=noise)


def _phases(before: Window, after: Window, whole: float) -> tuple[Change, ...]:
    if before.phases is None or after.phases is None:
        return ()
    old, new = phase_seconds(before.phases), phase_seconds(after.phases)
    changes = []
    for phase in PHASES:
        if any(old[phase]) or any(new[phase]):
            middles = [_middle(each[phase]) for each in (old, new)]
            # Errors in seconds: what hardly took any time before may have varied much, as a share of itself.
            errors = [_error(each[phase]) * middle for each, middle in zip((old, new), middles, strict=True)]
            change = _changed(phase, middles[0], middles[1], LEAST_CHANGE, whole)
            changes.append(replace(change, noise=max(change.noise, SURE * math.hypot(*errors))))
    return tuple(changes)


def _steps(window: Window) -> list[float]:
    return step_seconds(window.phases) if window.phases is not None else []


def _usual(window: Window) -> float:
    return _middle(_steps(window)) if window.has_steps and _steps(window) else window.seconds


def _middle(values: Sequence[float]) -> float:
    return spread(values).middle if values else 0.0


def _error(values: Sequence[float]) -> float:
    """Return the standard error of the usual value, as a share of it."""
    if len(values) < LEAST_STEPS:
        return 0.0
    found = spread(values)
    return found.deviation / found.middle / math.sqrt(len(values)) if found.middle > 0 else 0.0


def _skew(window: Window) -> float:
    """Return by which share the mean step is longer than the usual one."""
    usual = _usual(window)
    return abs(window.seconds - usual) / usual if usual > 0 else 0.0


def _modules(window: Window) -> Costs:
    return {
        (each.model, each.path): (
            ".".join(filter(None, (each.model, each.path))),
            window.per_step(each.forward_own + each.backward_own),
        )
        for each in window.costs.modules
    }


def _alike_modules(window: Window) -> Costs:
    """Return modules whose paths are alike but for numbers as one."""
    sums: defaultdict[str, float] = defaultdict(float)
    for name, seconds in _modules(window).values():
        sums[_INDEX.sub("*", name)] += seconds
    return {name: (name, seconds) for name, seconds in sums.items()}


def _lines(window: Window) -> Costs:
    """Return lines by what they say: between two runs of a cell their numbers and its name change."""
    seen: Counter[Hashable] = Counter()
    found: Costs = {}
    for line in _in_order(window.costs.lines):
        key = (line.place.function, line.place.source)
        seen[key] += 1
        name = line.place.source or f"line {line.place.line}"
        found[*key, seen[key]] = (name, window.per_step(line.caused))
    return found


def _in_order(lines: Iterable[LineCost]) -> list[LineCost]:
    return sorted(lines, key=lambda line: (line.place.file, line.place.line))


def _operators(window: Window) -> Costs:
    sums: defaultdict[tuple[str, str], float] = defaultdict(float)
    for each in window.costs.operators:
        sums[each.name, each.phase] += each.own
    return {(name, phase): (f"{name} ({phase})", window.per_step(seconds)) for (name, phase), seconds in sums.items()}
