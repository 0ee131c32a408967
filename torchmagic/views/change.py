"""This file is how a change of a number is written: as a share, and a large one as a factor."""

import math

from torchmagic.views.numbers import as_number, as_share

# From this factor on a number is "so many times" another and no share more.
TIMES = 3.0


def as_change(before: float, after: float) -> str:
    """Write how far a positive number changed; nothing where it was zero, changed its sign or is not finite.

    Examples:
        >>> as_change(2.0, 1.5), as_change(4.9, 0.1), as_change(1.0, 1.0), as_change(0.0, 1.0)
        ('-25%', '÷ 49', 'the same', '')
    """
    if before == after:
        return "the same"
    if not (0 < before < math.inf and 0 < after < math.inf):
        return ""
    factor = after / before
    if factor >= TIMES:
        return f"× {_two_digits(factor)}"
    if factor <= 1 / TIMES:
        return f"÷ {_two_digits(before / after)}"
    return f"{'+' if factor > 1 else '-'}{as_share(abs(factor - 1))}"


def _two_digits(factor: float) -> str:
    return as_number(float(f"{factor:.2g}"))
