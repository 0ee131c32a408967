"""This file is the leaves: whether the innermost modules' outputs are shown, because some probe wants them."""

from torchmagic.probes.taps import Taps

# What it costs to be told of a leaf, beside what is done with it (ns).
LEAF_COST = 1_500
# An evaluation runs many forwards in one step's time; after so many of its leaves a probe stops wanting them.
MOST_IDLE = 256


class Leaves:
    """Keeps the taps' showing of leaves on while at least one probe wants it: it costs something for each leaf."""

    def __init__(self, taps: Taps) -> None:
        self._taps = taps
        self._wanting: set[int] = set()

    def want(self, probe: object, *, wanted: bool) -> None:
        """Say whether a probe wants to be shown leaves from here on."""
        if wanted:
            self._wanting.add(id(probe))
        else:
            self._wanting.discard(id(probe))
        self._taps.sees_leaves = bool(self._wanting)
