"""This file is the settings of a watched run: what is measured, how often, and what is done with it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from difflib import get_close_matches
from enum import StrEnum
from numbers import Real
from os import PathLike, fsdecode
from typing import Any, Self, TypeVar

E = TypeVar("E", bound=StrEnum)


class Level(StrEnum):
    """How closely a run is watched; each level sees all that the one before it sees."""

    BASIC = "basic"
    INTERMEDIATE = "intermediate"
    ADVANCED = "advanced"
    EXPERT = "expert"


class Anomaly(StrEnum):
    """What happens at the first non-finite value."""

    AUTO = "auto"
    WARN = "warn"
    RAISE = "raise"
    DETECT = "detect"
    OFF = "off"


class PanelMode(StrEnum):
    """When and how the result is shown."""

    LIVE = "live"
    END = "end"
    TEXT = "text"
    NONE = "none"


class FailOn(StrEnum):
    """From which severity on findings become an exception at the end of the cell."""

    NEVER = "never"
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


# What each level adds to the one before it. The protocol of the loop is watched at every level.
ADDED = {
    Level.BASIC: ("anomaly", "gradients", "forward", "backward", "performance"),
    Level.INTERMEDIATE: ("weights", "memory", "data", "lr", "validation", "early-stopping"),
    Level.ADVANCED: ("activations", "device", "mixed-precision"),
    Level.EXPERT: (),
}
PROBES = tuple(name for names in ADDED.values() for name in names)
DEFAULT_BUDGET = {Level.BASIC: 3.0, Level.INTERMEDIATE: 5.0, Level.ADVANCED: 10.0, Level.EXPERT: 10.0}


def probes_of(level: Level) -> tuple[str, ...]:
    """Return the names of the probes that a level uses: its own and those of the levels before it."""
    levels = tuple(Level)
    return tuple(name for each in levels[: levels.index(level) + 1] for name in ADDED[each])


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of one watched run.

    Args:
        level: ``basic``, ``intermediate``, ``advanced`` or ``expert`` (``extreme`` is another word for it).
        only: Names of the probes to use, of whatever level; empty means those of the level. See ``ADDED``.
        also: Names of the probes to use beyond those of the level or of ``only``.
        without: Names of the probes to leave out, whatever else names them.
        anomaly: ``auto`` finds the origin of the first non-finite value, ``warn`` also warns, ``raise`` stops the
            run with ``NonFiniteError`` before the optimizer's step, ``detect`` also has torch's ``detect_anomaly``
            on, ``off`` does not look. None is ``auto``, and at level ``expert`` has torch's detection on as well, which
            then remembers lines but does not raise.
        every: Statistics each so many steps; None adapts to the budget.
        budget: Most percent of the step time that statistics may take; None takes the level's own.
        ignore: Ids of rules that are to say nothing; ``*`` stands for any letters.
        thresholds: Thresholds of rules that are to be other than their own, each named ``rule.threshold``.
        model: Name of the only model to watch; empty means all that run.
        name: Label of the run.
        panel: ``live``, ``end``, ``text`` or ``none``.
        save: Whether the run is written to the project's store.
        keep_source: Whether the source of the cell is written with the run; its rules read it in any case.
        fail_on: From which severity on findings fail what was watched, ids of rules that do so at any severity, or
            both, with commas between them: ``never``, ``error``, ``warning``, ``info``, ``error,dead-relu``; ``*``
            stands for any letters. It is kept as one text.
        report: Path of an HTML report to write at the end; empty means none.
        hang_after: Seconds after which a rank of a distributed run that does nothing looks what all ranks did last.
        every_rank: Whether each rank of a distributed run shows its result, and not rank 0 alone.

    Raises:
        ValueError: If a value is not one of those above; the message names the nearest right one.
    """

    level: Level = Level.ADVANCED
    only: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    anomaly: Anomaly | None = None
    every: int | None = None
    budget: float | None = None
    ignore: tuple[str, ...] = ()
    thresholds: Mapping[str, float] = field(default_factory=dict)
    model: str = ""
    name: str = ""
    panel: PanelMode = PanelMode.LIVE
    save: bool = True
    keep_source: bool = True
    fail_on: str = FailOn.NEVER
    report: str = ""
    hang_after: float = 60.0
    every_rank: bool = False

    def __post_init__(self) -> None:
        level = "expert" if self.level == "extreme" else self.level
        object.__setattr__(self, "level", _member(Level, level, "level"))
        if self.anomaly is not None:
            object.__setattr__(self, "anomaly", _member(Anomaly, self.anomaly, "anomaly"))
        object.__setattr__(self, "panel", _member(PanelMode, self.panel, "panel"))
        object.__setattr__(self, "fail_on", _failing(_names(self.fail_on)))
        for which in ("only", "also", "without"):
            names = _names(getattr(self, which))
            for name in names:
                if name not in PROBES:
                    raise ValueError(_unknown(which, name, PROBES))
            object.__setattr__(self, which, names)
        object.__setattr__(self, "ignore", _names(self.ignore))
        if self.ignore or self.thresholds:
            _check_rules(self.ignore, self.thresholds)
        if self.every is not None and (type(self.every) is not int or self.every < 1):
            raise ValueError(f"every must be a whole number from 1 on, got {self.every!r}")
        object.__setattr__(self, "report", _path(self.report))
        object.__setattr__(self, "name", "" if self.name is None else str(self.name))
        _check_model(self.model)
        _check_switches(save=self.save, keep_source=self.keep_source, every_rank=self.every_rank)
        if not isinstance(self.hang_after, Real) or not self.hang_after > 0:
            raise ValueError(f"hang_after must be a number of seconds above 0, got {self.hang_after!r}")
        if self.budget is not None and (not isinstance(self.budget, Real) or not self.budget >= 0):
            raise ValueError(f"budget must be a share of the step time in percent, 0 or more, got {self.budget!r}")

    def watches(self, probe: str) -> bool:
        """Whether the probe of this name takes part."""
        if probe in self.without:
            return False
        return probe in self.also or probe in (self.only or probes_of(self.level))

    @property
    def budget_share(self) -> float:
        """The most that statistics may take of a step's time, as a share of 1."""
        return (DEFAULT_BUDGET[self.level] if self.budget is None else self.budget) / 100

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain values that JSON can hold."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Build settings from plain values; an unknown name is a ValueError that says the nearest known one."""
        known = tuple(cls.__dataclass_fields__)
        for name in values:
            if name not in known:
                raise ValueError(_unknown("settings", name, known))
        return cls(**values)


def _failing(words: tuple[str, ...]) -> str:
    """Return the lowest of the severities, and the rules, as one text."""
    severities = [each for each in FailOn if each in words]
    rules = tuple(word for word in dict.fromkeys(words) if word not in severities)
    if rules:
        from torchmagic.rules.names import check_rules  # noqa: PLC0415 - as below

        for word in rules:
            try:
                check_rules((word,))
            except ValueError as error:
                known = f"fail_on: {word!r} is not one of {', '.join(FailOn)}, or the id of a rule"
                nearest = get_close_matches(word, tuple(FailOn), n=1)
                hint = f"did you mean {str(nearest[0])!r}?" if nearest else str(error).partition("; ")[2]
                raise ValueError(f"{known}; {hint}") from None
    lowest = tuple(each for each in severities[-1:] if each is not FailOn.NEVER or not rules)
    return ",".join((*lowest, *rules)) or FailOn.NEVER


def _check_rules(ignored: tuple[str, ...], thresholds: Mapping[str, float]) -> None:
    from torchmagic.rules.names import check_rules, check_thresholds  # noqa: PLC0415 - all rules are loaded with it

    if not isinstance(thresholds, Mapping):
        wanted = "must map names such as 'dead-relu.min_share' to numbers"
        raise ValueError(f"thresholds {wanted}, got {thresholds!r}")  # noqa: TRY004 - as all wrong settings
    check_rules(ignored)
    check_thresholds(thresholds)


def _path(given: object) -> str:
    if not isinstance(given, str | PathLike):
        wanted = "must be the path of a file to write, such as 'run.html'"
        raise ValueError(f"report {wanted}, got {given!r}")  # noqa: TRY004 - as all wrong settings
    return fsdecode(given)


def _check_model(given: object) -> None:
    if not isinstance(given, str):
        wanted = "must be the name of a model, such as 'model', or empty for all"
        raise ValueError(f"model {wanted}, got a {type(given).__name__}")  # noqa: TRY004 - as all wrong settings


def _check_switches(**switches: object) -> None:
    for name, given in switches.items():
        if not isinstance(given, bool):
            wanted = f"{name} must be True or False, got {given!r}"
            raise ValueError(wanted)  # noqa: TRY004 - as all wrong settings


def _member(kind: type[E], value: str, field: str) -> E:
    try:
        return kind(value)
    except ValueError:
        raise ValueError(_unknown(field, str(value), tuple(kind))) from None


def _names(value: str | tuple[str, ...] | list[str]) -> tuple[str, ...]:
    parts = value.replace(",", " ").split() if isinstance(value, str) else value
    return tuple(parts)


def _unknown(field: str, value: str, known: tuple[str, ...]) -> str:
    nearest = get_close_matches(value, known, n=1)
    hint = f"; did you mean {str(nearest[0])!r}?" if nearest else ""
    return f"{field}: {value!r} is not one of {', '.join(known)}{hint}"
