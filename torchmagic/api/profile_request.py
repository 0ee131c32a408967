"""This file is the request for a profile: what is profiled, how it is shown, and what becomes of the run."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Self

from torchmagic.debuggers.settings import Settings
from torchmagic.profiling.settings import ProfileSettings

if TYPE_CHECKING:
    from torchmagic.session.run import Run

SORTS = ("own", "total", "calls", "device", "memory", "flops")
# The settings of a watched run that a profile has as well; how closely it is watched is no choice.
SHARED = ("ignore", "thresholds", "name", "panel", "save", "keep_source", "fail_on", "report")
# What a profile is read with: names of models and the protocol of the loop are watched in any case. Judging while the
# cell runs would be in the profile, so that there is next to none.
_WATCHED: dict[str, Any] = {"only": ("performance",), "budget": 0.5}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileRequest:
    """What was asked for.

    Args:
        watch: Settings of the run around the profile.
        profiling: Settings of the profile.
        sort_by: Order of the operators, one of ``SORTS``.
        top: Most operators to show; 0 leaves that to the view.
        baseline: The run to compare with, as ``session.get`` takes it; None or empty for none.

    Raises:
        ValueError: If a value is wrong.
    """

    watch: Settings = field(default_factory=lambda: Settings(**_WATCHED))
    profiling: ProfileSettings = field(default_factory=ProfileSettings)
    sort_by: str = SORTS[0]
    top: int = 0
    baseline: "int | str | Run | None" = None

    def __post_init__(self) -> None:
        if self.sort_by not in SORTS:
            raise ValueError(f"sort_by: {self.sort_by!r} is not one of {', '.join(SORTS)}")
        if type(self.top) is not int or self.top < 0:
            raise ValueError(f"top must be a whole number of operators, 0 for as many as fit, got {self.top!r}")

    def to_dict(self) -> dict[str, Any]:
        """Return what a run's settings hold of the profile, as plain values that JSON can hold; no baseline."""
        return {"profile": self.profiling.to_dict(), "sort_by": self.sort_by, "top": self.top}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Build a request from plain values; an unknown name is a ValueError that says the nearest known one."""
        values = dict(values)
        if "active" in values:
            values["steps"] = values.pop("active")
        for name in values:
            if name not in NAMES:
                nearest = get_close_matches(name, NAMES, n=1)
                hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
                raise ValueError(f"settings: {name!r} is not one of {', '.join(NAMES)}{hint}")
        return cls(
            watch=Settings(**_WATCHED, **_chosen(values, SHARED)),
            profiling=ProfileSettings(**_chosen(values, PROFILING)),
            **_chosen(values, SHOWN),
        )


PROFILING = tuple(each.name for each in fields(ProfileSettings))
SHOWN = ("sort_by", "top", "baseline")
NAMES = (*PROFILING, "active", *SHOWN, *SHARED)


def _chosen(values: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name in names}
