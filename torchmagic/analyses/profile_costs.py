"""This file is the costs of a profile: what something took of it, in shares and in words, for rules to weigh."""

import math
import re
from collections.abc import Collection
from dataclasses import fields
from typing import NamedTuple

from torchmagic.records.costs import CostsRecord, ModuleCost, OperatorCost
from torchmagic.records.place import Place
from torchmagic.records.profile import PhasesRecord, ProfileRecord, SourcesRecord
from torchmagic.session.run import Run

# A cure of less than this share of the time is not worth the reader's.
LEAST_GAIN = 0.03
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
_ROUNDED_UP = 0.9995  # from here on a thousand of the smaller unit would be written


class Profile(NamedTuple):
    """The newest profile of a run.

    Args:
        window: What was profiled.
        phases: Seconds of each phase in it; empty where unknown.
        costs: What everything cost.
        sources: Texts of the cell and of the files that have lines in it.
    """

    window: ProfileRecord
    phases: dict[str, float]
    costs: CostsRecord
    sources: tuple[str, ...]

    @property
    def steps(self) -> int:
        """Steps in the window; 1 where there were none, and all of it counts as one."""
        return max(self.window.steps, 1)

    @property
    def trains(self) -> bool:
        """Whether a backward took part of it."""
        return self.phases.get("backward", 0.0) > 0

    def share(self, seconds: float) -> float:
        """Return the share of the window's time, 0 to 1."""
        return min(1.0, seconds / self.window.seconds)

    def told(self, seconds: float) -> str:
        """Return seconds of the window as words: how long a step, and which share of the time."""
        share = f"{self.share(seconds):.0%} of the time"
        if self.window.steps < 1:
            return f"{duration(seconds)} ({share})"
        return f"{duration(seconds / self.steps)} a step ({share})"

    def evidence(self, seconds: float, threshold: float) -> dict[str, float | str]:
        """Return the numbers that every finding on costs tells."""
        per = {"seconds a step": _rounded(seconds / self.steps)} if self.window.steps else {}
        share, wanted = f"{self.share(seconds):.1%}", f"{threshold:.0%} of the time"
        return {"seconds in the profile": _rounded(seconds), **per, "share of the time": share, "threshold": wanted}

    def operators(self, names: Collection[str], phases: Collection[str] = ()) -> list[OperatorCost]:
        """Return the operators of some names, in some phases or in all, the dearest first."""
        found = [each for each in self.costs.operators if each.name in names and (not phases or each.phase in phases)]
        return sorted(found, key=lambda each: -each.own)

    def own(self, names: Collection[str], phases: Collection[str] = ()) -> float:
        """Return the seconds of some operators without those that they call, kernels' where there are any."""
        return sum(seconds_of(each) for each in self.operators(names, phases))

    def mentions(self, *words: str) -> bool:
        """Whether one of the sources has one of these words."""
        return any(word in text for text in self.sources for word in words)


def profile_of(run: Run) -> Profile | None:
    """Return the newest profile of a run; None where there is none of any length."""
    windows, costs = run.of(ProfileRecord), run.of(CostsRecord)
    if not windows or not costs or not 0 < windows[-1].seconds < math.inf:
        return None
    texts = [text for record in run.of(SourcesRecord) for text in record.texts.values()]
    return Profile(windows[-1], _phases(run), costs[-1], (run.source, *texts))


def duration(seconds: float) -> str:
    """Return seconds with the unit that leaves no leading zeros, such as ``31 ms``."""
    size, unit = next((each for each in _UNITS if seconds >= _ROUNDED_UP * each[0]), _UNITS[-1])
    value = seconds / size
    # Two digits are enough.
    return f"{value:.0f} {unit}" if round(value, 1) >= 10 else f"{value:.1f} {unit}"  # noqa: PLR2004 - as said


def seconds_of(operator: OperatorCost) -> float:
    """Return the seconds of an operator itself: its kernels', or, without an accelerator, its own."""
    return operator.own if operator.device is None else operator.device


def path_of(module: ModuleCost) -> str:
    """Return the path of a module after its model's name."""
    return f"{module.model}.{module.path}" if module.path else module.model


def as_code(path: str) -> str:
    """Return a path as code has it: parts of a list of modules with their index.

    Example:
        >>> as_code("model.blocks.0.norm")
        'model.blocks[0].norm'
    """
    return re.sub(r"\.(\d+)", r"[\1]", path)


def shown(place: Place | None) -> Place | None:
    """Return a place only if it has a text, so that a finding does not point to a line that nobody can read."""
    return place if place is not None and place.source else None


def _phases(run: Run) -> dict[str, float]:
    records = run.of(PhasesRecord)
    if not records:
        return {}
    return {each.name: sum(getattr(records[-1], each.name)) for each in fields(records[-1]) if each.name != "steps"}


def _rounded(seconds: float) -> float:
    return float(f"{seconds:.3g}")
