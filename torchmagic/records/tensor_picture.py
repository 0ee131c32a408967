"""This file is the record of a tensor's picture: so few pixels that they fit into a page."""

from dataclasses import dataclass
from typing import Literal

# Levels of a map from its low to its high end; what is between tiles; what is not finite.
NUM_LEVELS = 254
GAP, NONFINITE = 254, 255


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A curve of one dimension, a map of levels, or an image in colour.

    Args:
        kind: ``line`` (``values`` is filled), ``levels`` (a byte a pixel), ``rgb`` or ``rgba`` (3 or 4 bytes).
        width: Pixels of a row.
        height: Rows.
        pixels: Row by row from the top; in ``levels`` below ``NUM_LEVELS`` a level, else ``GAP`` or ``NONFINITE``.
        values: Of a line, in order; NaN and the infinities as they are.
        places: Elements that a line's values are at.
        low: Value of the first level.
        high: Value of the last one.
        palette: Of levels: rising, rising and falling from the middle, or the brightness of an image.
        told: What is shown, as a sentence without its stop.
    """

    kind: Literal["line", "levels", "rgb", "rgba"]
    width: int = 0
    height: int = 0
    pixels: bytes = b""
    values: tuple[float, ...] = ()
    places: tuple[int, ...] = ()
    low: float = 0.0
    high: float = 1.0
    palette: Literal["sequential", "diverging", "grey"] = "sequential"
    told: str = ""
