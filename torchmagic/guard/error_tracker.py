"""This file keeps errors as text: a bounded list of the last ones, and how many there were of each kind."""

import logging
import threading
import time
import traceback
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import torch

from torchmagic.guard.error_kinds import ErrorCategory, ErrorSeverity, category_of
from torchmagic.models.running import told
from torchmagic.models.shapes import shapes_of

MOST_ERRORS = 1000
# Frames of a traceback, words of one value, values of one context.
_MOST_FRAMES, _LONGEST, _MOST_VALUES = 20, 200, 50
_PLAIN = (bool, int, float, type(None))

Told = bool | int | float | str | None

_log = logging.getLogger("torchmagic.guard")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackedError:
    """One error, as numbers and text: no exception, frame or tensor is held.

    Args:
        number: 1 for the first that the tracker was given.
        time: Seconds since 1970 (UTC).
        kind: Class of the exception; empty where a text was tracked.
        message: What it says, with its class, in one line.
        severity: How grave it is.
        category: What it is about.
        context: What the caller said of the circumstances; tensors by shape, dtype and device.
        traceback: As Python prints it, the innermost 20 frames; empty where there is none.
    """

    number: int
    time: float
    kind: str
    message: str
    severity: ErrorSeverity
    category: ErrorCategory
    context: Mapping[str, Told] = field(default_factory=dict)
    traceback: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the same as a dictionary that json can write."""
        return asdict(self)


class ErrorTracker:
    """Keeps the last errors as text and counts all of them; every method may be called from any thread.

    Args:
        max_errors: How many are kept, at least 1; older ones are dropped, and counted all the same.

    Raises:
        ValueError: If ``max_errors`` is no whole number of 1 or more.

    Example:
        >>> tracker = ErrorTracker()
        >>> tracked = tracker.track_error(ValueError("too long"), ErrorSeverity.DEBUG, ErrorCategory.DATA, {"row": 3})
        >>> tracked.message, tracker.counts
        ('ValueError: too long', {'data': 1})
    """

    def __init__(self, max_errors: int = MOST_ERRORS) -> None:
        if isinstance(max_errors, bool) or not isinstance(max_errors, int) or max_errors < 1:
            raise ValueError(f"max_errors is how many errors are kept, 1 or more, {max_errors!r} came")
        self._lock = threading.Lock()
        self._errors: deque[TrackedError] = deque(maxlen=max_errors)
        self._categories: Counter[str] = Counter()
        self._severities: Counter[str] = Counter()
        self._number = 0

    def track_error(
        self,
        error: BaseException | str,
        severity: ErrorSeverity | str = ErrorSeverity.ERROR,
        category: ErrorCategory | str | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> TrackedError:
        """Keep an error and write it to the log ``torchmagic.guard``.

        Args:
            error: The exception, or a text.
            severity: How grave it is; also the level in the log.
            category: What it is about; told by the error itself where None.
            context: What else to know, by name.

        Returns:
            What is kept of it.

        Raises:
            ValueError: If severity or category is none of their members; one line.
        """
        grave = _member(ErrorSeverity, severity)
        message, guessed = _said(error)
        about = guessed if category is None else _member(ErrorCategory, category)
        facts = {str(key): _told(value) for key, value in list((context or {}).items())[:_MOST_VALUES]}
        trace = _traceback(error) if isinstance(error, BaseException) else ""
        with self._lock:
            self._number += 1
            tracked = TrackedError(
                number=self._number,
                time=time.time(),
                kind=type(error).__name__ if isinstance(error, BaseException) else "",
                message=message,
                severity=grave,
                category=about,
                context=facts,
                traceback=trace,
            )
            self._errors.append(tracked)
            self._categories[about] += 1
            self._severities[grave] += 1
        _log.log(grave.level, "%s error: %s", about.value, tracked.message, extra={"tracked": tracked.to_dict()})
        return tracked

    @property
    def errors(self) -> tuple[TrackedError, ...]:
        """The errors that are kept, oldest first."""
        with self._lock:
            return tuple(self._errors)

    @property
    def counts(self) -> dict[str, int]:
        """How many errors there were of each category, also those that are no longer kept."""
        with self._lock:
            return {str(category): count for category, count in sorted(self._categories.items())}

    @property
    def severities(self) -> dict[str, int]:
        """How many errors there were of each severity."""
        with self._lock:
            return {str(severity): count for severity, count in sorted(self._severities.items())}

    def clear(self) -> None:
        """Forget all errors and counts."""
        with self._lock:
            self._errors.clear()
            self._categories.clear()
            self._severities.clear()
            self._number = 0

    def __len__(self) -> int:
        """How many errors there were, also those that are no longer kept."""
        with self._lock:
            return self._number


def _member(kind: type[Any], value: Any) -> Any:
    try:
        return kind(value.lower() if isinstance(value, str) and not isinstance(value, kind) else value)
    except ValueError:
        names = ", ".join(member.value for member in kind)
        raise ValueError(f"{kind.__name__} is one of {names}; {value!r} came") from None


def _said(error: BaseException | str) -> tuple[str, ErrorCategory]:
    """Return what an error says in one line, and what it is about."""
    if not isinstance(error, BaseException):
        return _told_text(str(error)), ErrorCategory.UNKNOWN
    try:
        return told(error), category_of(error)
    except Exception:  # noqa: BLE001 - a class of the user's may fail to say anything, and is an error all the same
        return type(error).__name__, ErrorCategory.UNKNOWN


def _traceback(error: BaseException) -> str:
    if error.__traceback__ is None:
        return ""
    return "".join(traceback.format_exception(error, limit=-_MOST_FRAMES))


def _told(value: Any) -> Told:
    """Tell a value without reading a tensor or calling a class of the user's."""
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, str):
        return _told_text(value)
    if isinstance(value, torch.Tensor):
        return f"tensor {shapes_of(value)} {str(value.dtype).removeprefix('torch.')} {value.device}"
    if isinstance(value, torch.dtype | torch.device | torch.Size):
        return str(value)
    if isinstance(value, BaseException):
        return _said(value)[0]
    held = shapes_of(value) if isinstance(value, list | tuple | Mapping) else ""
    return _told_text(f"{type(value).__name__} {held}".strip())


def _told_text(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
