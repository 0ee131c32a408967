"""This file is the entry: one event of a training, in plain values, as it travels to the thread that writes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from traceback import TracebackException
from typing import Any

from torchmagic.api.training_logs.plain_values import Walk

# Frames of a traceback that are told, the innermost ones.
MOST_FRAMES = 50
# The attribute of a logging record that holds the entry.
ATTRIBUTE = "torchmagic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What is told beside a record's message.

    Args:
        event: What kind of event it is, such as ``progress``.
        phase: Phase of the training; empty where nobody said.
        fields: Plain values.
        error: The exception, without its frames' variables; None without one.
        weight: About how much memory it takes, in values of some 100 bytes.
    """

    event: str = "log"
    phase: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)
    error: TracebackException | None = None
    weight: int = 1


def entry(
    event: str, *, phase: object = None, fields: Mapping[str, Any] | None = None, error: BaseException | None = None
) -> Entry:
    """Return an entry that holds nothing of the user's: neither tensors nor the frames of an exception."""
    walk = Walk()
    told = walk.of(fields or {})
    return Entry(
        event=walk.of(str(event)),
        phase="" if phase is None else walk.of(str(phase)),
        fields=told,
        error=None if error is None else without_frames(error),
        weight=walk.weight + (MOST_FRAMES if error is not None else 0),
    )


def without_frames(error: BaseException) -> TracebackException:
    """Return what a traceback is written from; lines of source are read by who writes it."""
    return TracebackException.from_exception(error, limit=-MOST_FRAMES, lookup_lines=False, compact=True)
