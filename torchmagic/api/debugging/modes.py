"""This file is the modes and the levels of a debugger: which features are on, and how closely they look."""

from difflib import get_close_matches
from enum import StrEnum
from typing import Any, TypeVar

E = TypeVar("E", bound=StrEnum)
_MOST_LISTED = 8


class DebugMode(StrEnum):
    """Which features a debugger uses.

    ``profiling`` is another word for ``performance_profiling``; ``full_debug`` is all features, and all that the level
    has beside them.
    """

    NONE = "none"
    ANOMALY_DETECTION = "anomaly_detection"
    GRADIENT_CHECKING = "gradient_checking"
    MEMORY_PROFILING = "memory_profiling"
    PERFORMANCE_PROFILING = "performance_profiling"
    PROFILING = "profiling"
    FULL_DEBUG = "full_debug"


class DebugLevel(StrEnum):
    """How closely a debugger looks, as ``%%torchdebug --level`` does; ``extreme`` is another word for ``expert``."""

    BASIC = "basic"
    INTERMEDIATE = "intermediate"
    ADVANCED = "advanced"
    EXPERT = "expert"
    EXTREME = "extreme"


def member(kind: type[E], value: Any, field: str) -> E:
    """Return the member that a value names; a member's own name, in capitals, will do.

    Args:
        kind: Such as ``DebugLevel``.
        value: What came.
        field: What it was given for, as the error calls it.

    Raises:
        ValueError: If there is none; one line that names the nearest.
    """
    word = value.strip().lower() if isinstance(value, str) else value
    try:
        return kind(word)
    except ValueError:
        raise ValueError(unknown(field, value, tuple(each.value for each in kind))) from None


def unknown(field: str, value: Any, known: tuple[str, ...]) -> str:
    """Say in one line that a value is none of those that there are, and which one is nearest."""
    lower = {each.lower(): each for each in known}
    nearest = get_close_matches(str(value).lower(), lower, n=1)
    hint = f"; did you mean {lower[nearest[0]]!r}?" if nearest else ""
    listed = ", ".join(known if len(known) <= _MOST_LISTED else (*known[:_MOST_LISTED], "..."))
    return f"{field}: {value!r} is not one of {listed}{hint}"
