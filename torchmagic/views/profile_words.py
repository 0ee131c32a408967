"""This file is how a profile is written: times and sizes of three digits, names of phases and of places."""

import math
from collections.abc import Iterable
from pathlib import PurePath

from torchmagic.analyses.profile_window import Window
from torchmagic.records.place import Place
from torchmagic.views.numbers import as_bytes, as_count, as_seconds, byte_unit

PHASE_NAMES = {
    "data": "waiting for data",
    "transfer": "copies to the device",
    "forward": "forward",
    "backward": "backward",
    "optimizer": "optimizer",
    "other": "other code",
    "idle": "idle",
}
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
_OPERATIONS = ((1e12, "TFLOP"), (1e9, "GFLOP"), (1e6, "MFLOP"), (1e3, "kFLOP"), (1.0, "FLOP"))
# In which unit the times of a table stand: the largest shows at least so many of it.
_LEAST_IN_UNIT = 2.0
# From here on minutes and seconds say more than three digits.
_MINUTE = 60
_MOST_LETTERS, _LONGEST_NAME = 28, 42


def three_digits(value: float) -> float:
    """Round to three significant digits: more of a time that was taken once say nothing.

    Examples:
        >>> three_digits(41.237), three_digits(0.0012349)
        (41.2, 0.00123)
    """
    return float(f"{value:.3g}") if math.isfinite(value) else value


def as_time(seconds: float) -> str:
    """Write a duration of three digits.

    Examples:
        >>> as_time(0.041237), as_time(83.2)
        ('41.2 ms', '1 min 23 s')
    """
    return as_seconds(seconds if abs(seconds) >= _MINUTE else three_digits(seconds))


def as_size(num_bytes: float) -> str:
    """Write a size of three digits.

    Examples:
        >>> as_size(1536 * 1024), as_size(0)
        ('1.5 MiB', '0 B')
    """
    return as_bytes(three_digit_size(num_bytes))


def three_digit_size(num_bytes: float) -> float:
    """Round bytes so that three digits are left in the unit in which they are written.

    Examples:
        >>> three_digit_size(3_312_345) / 2**20
        3.16
    """
    size, _ = byte_unit(num_bytes)
    return three_digits(num_bytes / size) * size


def as_operations(number: float) -> str:
    """Write how many operations, in three digits.

    Examples:
        >>> as_operations(12_345_678)
        '12.3 M'
    """
    return as_count(three_digits(number))


def time_unit(seconds: Iterable[float]) -> tuple[float, str]:
    """Return the unit in which times beside each other are written: its seconds and its name.

    Examples:
        >>> time_unit([0.041, 0.0003]), time_unit([])
        ((0.001, 'ms'), (0.001, 'ms'))
    """
    most = max(seconds, default=0.0)
    if most <= 0:
        return _TIMES[1]
    return next((pair for pair in _TIMES if most >= _LEAST_IN_UNIT * pair[0]), _TIMES[-1])


def operation_size(most: float) -> tuple[float, str]:
    """Return the unit in which operations beside each other are written: how many it stands for, and its name."""
    return next((pair for pair in _OPERATIONS if most >= pair[0]), _OPERATIONS[-1])


def in_unit(value: float | None, size: float) -> float | None:
    """Return how many units a value is, in three digits and no finer than a thousandth; None where it is unknown."""
    if value is None:
        return None
    number = three_digits(value / size)
    return round(number, 3) if abs(number) < 1 else number


def percent(share: float) -> float:
    """Return a share as percent for a column: one decimal, and whole ones from ten on."""
    number = 100 * share
    return float(round(number)) if number >= 10 else round(number, 1)  # noqa: PLR2004 - two digits


def file_name(window: Window, file: str) -> str:
    """Return what to call a file or cell."""
    return window.sources.names.get(file) or PurePath(file).name or "somewhere"


def place_name(window: Window, place: Place | None) -> str:
    """Return a line as ``this cell:14``; empty for no place."""
    if place is None:
        return ""
    name = file_name(window, place.file)
    return f"{name if len(name) <= _MOST_LETTERS else f'…{name[1 - _MOST_LETTERS :]}'}:{place.line}"


def short_name(name: str) -> str:
    """Return a name that leaves room for the columns beside it, cut in its middle.

    Examples:
        >>> short_name("aten::mm"), short_name("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__")
        ('aten::mm', 'enumerate(DataLoader)…aLoaderIter.__next__')
    """
    half = _LONGEST_NAME // 2
    return name if len(name) <= _LONGEST_NAME else f"{name[:half]}…{name[1 - half :]}"


def per_step(window: Window) -> str:
    """Return the words that say of what an amount is."""
    return "per step" if window.has_steps else "in all"
