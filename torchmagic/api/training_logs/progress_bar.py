"""This file is the progress bar of a training, drawn by tqdm in notebooks and on terminals."""

import logging
import os
import sys
from collections.abc import Mapping
from typing import Any

from tqdm.auto import tqdm

from torchmagic.api.training_logs.entry import ATTRIBUTE, Entry
from torchmagic.api.training_logs.later import Later

PROGRESS = "progress"
# What stands behind the bar at most.
MOST_NUMBERS = 4
_NOT_NUMBERS = ("epoch", "step", "position")


class Bar(tqdm):  # type: ignore[type-arg] # it goes over nothing
    """A bar of tqdm's without tqdm's own thread."""

    monitor_interval = 0


def is_wanted(asked: bool | None) -> bool:  # noqa: FBT001 - it is the argument as the user gave it
    """Whether a bar is to be drawn: as asked, else in notebooks and on terminals."""
    if asked is not None:
        return asked
    in_notebook = any(kind.__module__ == "tqdm.notebook" for kind in Bar.__mro__)
    return in_notebook or bool(sys.stderr is not None and sys.stderr.isatty())


class ProgressBar(logging.Handler):
    """Moves a bar with the records of progress that come by.

    Args:
        label: What stands before the bar.
        total: Steps of the whole training; None where nobody knows.
    """

    def __init__(self, label: str, total: int | None) -> None:
        super().__init__()
        self._process = os.getpid()
        self._bar = Bar(total=total, desc=label or None, unit="step", dynamic_ncols=True, disable=False)

    def emit(self, record: logging.LogRecord) -> None:
        """Move the bar to where the training stands."""
        entry: Entry | None = getattr(record, ATTRIBUTE, None)
        if entry is None or entry.event != PROGRESS or os.getpid() != self._process:
            return
        try:
            self._bar.set_postfix_str(behind(entry.fields), refresh=False)
            self._bar.update(entry.fields["position"] - self._bar.n)
        except Exception:  # noqa: BLE001 - as logging's own handlers: what is shown is never the training's failure
            self.handleError(record)

    def close(self) -> None:
        """Leave the bar as it stands; safe to call twice."""
        if os.getpid() == self._process:
            self._bar.close()
        super().close()


def behind(fields: Mapping[str, Any]) -> str:
    """Return what stands behind the bar, such as ``epoch 2, loss 0.531``."""
    numbers = {key: value for key, value in fields.items() if key not in _NOT_NUMBERS and value is not None}
    words = [f"{key.replace('_', ' ')} {in_short(value)}" for key, value in list(numbers.items())[:MOST_NUMBERS]]
    return ", ".join([f"epoch {fields['epoch']}", *words] if fields.get("epoch") is not None else words)


def in_short(value: Any) -> str:
    """Return a plain value in few letters; what was left for later is read."""
    if isinstance(value, Later):
        value = value.read()
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value) if isinstance(value, bool | int | str) else "…"
