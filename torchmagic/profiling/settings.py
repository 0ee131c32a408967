"""This file is the settings of a profile: which steps are profiled, what is noted down, and where it is written."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from os import PathLike, fsdecode
from typing import Any, Self

# Steps of a quick profile, where none are chosen.
QUICK_STEPS, QUICK_WARMUP = 3, 1
DEFAULT_STEPS, DEFAULT_WARMUP = 20, 2
COUNTS = {"steps": 1, "wait": 0, "warmup": 0}
PATHS = ("trace", "tensorboard")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileSettings:
    """Settings of one profile.

    Args:
        steps: Optimizer steps in the profile, 1 or more; 20, or 3 with ``quick``.
        wait: Steps left alone at the beginning, 0 or more.
        warmup: Steps after those that are profiled and thrown away, 0 or more; 2, or 1 with ``quick``.
        memory: Whether allocations are noted down.
        stacks: Whether Python's calls are noted down, which the trace then shows.
        flops: Whether floating point operations are counted, for which shapes are noted down.
        shapes: Whether shapes and types of the operators' inputs are noted down.
        trace: Path of a Chrome trace to write, such as ``trace.json`` or ``trace.json.gz``; empty means none.
        tensorboard: Folder to write the same trace to for TensorBoard; empty means none.
        quick: Whether few steps are enough: those of ``steps`` and ``warmup`` that were left at their defaults.
        lines: Whether the user's lines are timed.
        verify: Whether the cures that are proposed are tried on a copy of the model.

    Raises:
        ValueError: If a value is not one of those above; the message says what was wanted.
    """

    steps: int = DEFAULT_STEPS
    wait: int = 0
    warmup: int = DEFAULT_WARMUP
    memory: bool = False
    stacks: bool = False
    flops: bool = False
    shapes: bool = False
    trace: str = ""
    tensorboard: str = ""
    quick: bool = False
    lines: bool = True
    verify: bool = False

    def __post_init__(self) -> None:
        for name, least in COUNTS.items():
            _check_count(name, getattr(self, name), least)
        for name in self.__dataclass_fields__:
            if name not in COUNTS and name not in PATHS:
                _check_switch(name, getattr(self, name))
        for name in PATHS:
            object.__setattr__(self, name, _path(name, getattr(self, name)))

    @property
    def active(self) -> int:
        """Optimizer steps that are profiled."""
        return QUICK_STEPS if self.quick and self.steps == DEFAULT_STEPS else self.steps

    @property
    def warming(self) -> int:
        """Optimizer steps that are profiled before those, and thrown away."""
        return QUICK_WARMUP if self.quick and self.warmup == DEFAULT_WARMUP else self.warmup

    @property
    def options(self) -> tuple[str, ...]:
        """Names of what is noted down beyond time."""
        return tuple(name for name in ("memory", "stacks", "flops", "shapes") if getattr(self, name))

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain values that JSON can hold."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Build settings from plain values; an unknown name is a ValueError that says the nearest known one."""
        known = tuple(cls.__dataclass_fields__)
        for name in values:
            if name not in known:
                nearest = get_close_matches(name, known, n=1)
                hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
                raise ValueError(f"profile: {name!r} is not one of {', '.join(known)}{hint}")
        return cls(**values)


def _check_count(name: str, value: object, least: int) -> None:
    if type(value) is not int or value < least:
        raise ValueError(f"{name} must be a whole number of optimizer steps from {least} on, got {value!r}")


def _check_switch(name: str, value: object) -> None:
    if not isinstance(value, bool):
        wanted = f"{name} must be True or False, got {value!r}"
        raise ValueError(wanted)  # noqa: TRY004 - as all wrong settings


def _path(name: str, value: object) -> str:
    if not isinstance(value, str | PathLike):
        wanted = f"{name} must be a path, empty for none, got {value!r}"
        raise ValueError(wanted)  # noqa: TRY004 - as all wrong settings
    return fsdecode(value)
