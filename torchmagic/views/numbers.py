"""This file is how numbers are written for people: four significant digits and a unit that fits."""

import math
from collections.abc import Sequence

_THOUSANDS = ("", "k", "M", "G", "T", "P")
_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_GROUPED_FROM = 10_000
_WHOLE_TO = 1e15  # nobody counts further
_MINUTE, _HOUR = 60, 3600
_FINE_SHARE = 0.0995  # from here on no decimal is needed
_NEARLY_ALL = 0.995  # from here on one decimal tells it from all
_LEAST_SHARE = 0.001  # less is written as "less than that", and what lacks less of all as "more than that"
_ALL = 1 - 1e-12  # what sums of parts make of one
_PLAIN_FROM, _PLAIN_TO = 1e-3, 1e6  # outside, the power of ten says more than a row of zeros


def as_number(value: float | None) -> str:
    """Write a number with at most four significant digits; whole numbers are written whole.

    Args:
        value: Any number; NaN and the infinities have names, None is an empty string.

    Examples:
        >>> as_number(0.123456), as_number(1234567), as_number(0.0000123456), as_number(float("-inf"))
        ('0.1235', '1,234,567', '1.235e-5', '-inf')
    """
    if value is None:
        return ""
    if not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if abs(value) < _WHOLE_TO and value == int(value):
        return f"{int(value):,}" if abs(value) >= _GROUPED_FROM else str(int(value))
    mantissa, power = f"{value:.3e}".split("e")
    if not _PLAIN_FROM <= abs(value) < _PLAIN_TO:
        return f"{_short(mantissa)}e{int(power)}"
    digits = max(0, 3 - int(power))
    rounded = round(value, digits)
    return _short(f"{rounded:,.{digits}f}" if abs(rounded) >= _GROUPED_FROM else f"{rounded:.{digits}f}")


def as_count(value: float) -> str:
    """Write how many, in thousands, millions and so on.

    Examples:
        >>> as_count(950), as_count(11_689_512)
        ('950', '11.69 M')
    """
    return _scaled(value, 1000.0, _THOUSANDS)


def as_bytes(value: float) -> str:
    """Write a size given in bytes.

    Examples:
        >>> as_bytes(512), as_bytes(3 * 2**20)
        ('512 B', '3 MiB')
    """
    return _scaled(value, 1024.0, _BINARY)


def byte_unit(most: float) -> tuple[float, str]:
    """Return how many bytes the unit has in which a size is written, and its name: for values beside each other.

    Examples:
        >>> byte_unit(3 * 2**20), byte_unit(0)
        ((1048576.0, 'MiB'), (1.0, 'B'))
    """
    _, power = _in_unit(most, 1024.0, len(_BINARY)) if math.isfinite(most) else (most, 0)
    return 1024.0**power, _BINARY[power]


def as_seconds(value: float) -> str:
    """Write a duration given in seconds.

    Examples:
        >>> as_seconds(0.00213), as_seconds(83.2), as_seconds(7384)
        ('2.13 ms', '1 min 23 s', '2 h 3 min')
    """
    if not math.isfinite(value):
        return as_number(value)
    if value < 0:
        return f"-{as_seconds(-value)}"
    written = _as_written(value)
    if written >= _MINUTE:
        whole = int(max(value, _MINUTE))
        hours, minutes = whole // _HOUR, whole % _HOUR // _MINUTE
        return f"{as_number(hours)} h {minutes} min" if hours else f"{minutes} min {whole % _MINUTE} s"
    size, unit = next((pair for pair in _SECONDS if written >= pair[0]), _SECONDS[-1])
    return "0 s" if value == 0 else f"{as_number(value / size)} {unit}"


def as_share(value: float) -> str:
    """Write a share of one in percent.

    Examples:
        >>> as_share(0.1234), as_share(0.0004), as_share(0.996), as_share(0.9996), as_share(1)
        ('12%', '<0.1%', '99.6%', '>99.9%', '100%')
    """
    if not math.isfinite(value):
        return as_number(value)
    if 0 < value < _LEAST_SHARE:
        return "<0.1%"
    if 1 - _LEAST_SHARE < value < _ALL:
        return ">99.9%"
    is_fine = 0 < value < _FINE_SHARE or _NEARLY_ALL <= value < _ALL
    written = f"{100 * value:.{1 if is_fine else 0}f}%"
    return "0%" if written == "-0%" else written


def as_shape(shape: Sequence[int]) -> str:
    """Write a tensor's shape, its sizes with a cross between them.

    Examples:
        >>> as_shape((16,)), as_shape(())
        ('16', 'scalar')
    """
    return "×".join(map(str, shape)) or "scalar"


def as_amount(value: float, *, unit: str) -> str:
    """Write an amount in its unit: ``s`` and ``B`` scale, any other unit is put behind the number.

    Examples:
        >>> as_amount(0.25, unit="s"), as_amount(2048, unit="B"), as_amount(12, unit="calls")
        ('250 ms', '2 KiB', '12 calls')
    """
    if unit == "s":
        return as_seconds(value)
    if unit == "B":
        return as_bytes(value)
    return f"{as_number(value)} {unit}".rstrip()


def _short(digits: str) -> str:
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def _scaled(value: float, base: float, units: tuple[str, ...]) -> str:
    if not math.isfinite(value):
        return as_number(value)
    value, power = _in_unit(value, base, len(units))
    return f"{as_number(value)} {units[power]}".rstrip()


def _in_unit(value: float, base: float, num_units: int) -> tuple[float, int]:
    """Return a value in its unit, and which that is: none in which it would read as one of the next."""
    power = 0
    while power < num_units - 1 and abs(_as_written(value)) >= base:
        value, power = value / base, power + 1
    return value, power


def _as_written(value: float) -> float:
    """Return a finite value with the digits that are written of it."""
    return float(value) if value == int(value) else float(f"{value:.3e}")
