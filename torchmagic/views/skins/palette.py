"""This file is the colours and dashes of curves, which the panel's style and the report's repeat.

Each colour keeps 3:1 on white and on a dark notebook, as one picture stands on both. Any two stay apart for readers
with deuteranopia, protanopia or tritanopia: ``tests/views/skins/test_palette.py`` simulates them. Within so narrow a
band of lightness colours alone cannot be far apart, so that neighbouring curves differ by their dashes as well.
"""

COLOURS = ("#4a7fe0", "#f76800", "#34755b", "#c30d9c", "#829c5b", "#9c5b1a", "#c3758f", "#9c00ff")
# Lengths of strokes and gaps in widths of the line, curve by curve; the first is drawn through.
DASHES: tuple[tuple[float, ...], ...] = ((), (5, 2), (1.3, 1.8), (6, 1.8, 1.3, 1.8))
NOT_FINITE = "#d42a35"
EDGE = "#ffffff"  # between areas, of which each keeps 3:1 to it


def look(index: int) -> tuple[str, tuple[float, ...]]:
    """Return the colour and the dash of a plot's line by its place, from 0; no two of 32 lines look the same.

    Examples:
        >>> look(0), look(8)
        (('#4a7fe0', ()), ('#4a7fe0', (5, 2)))
    """
    return COLOURS[index % len(COLOURS)], DASHES[(index + index // len(COLOURS)) % len(DASHES)]
