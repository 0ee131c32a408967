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


class Look:
    """One probe's look at leaves: whether it is on, and what it has cost since it was last paid for.

    Args:
        leaves: Shows the leaves.
        taps: Tells whether gradients are on.

    Attributes:
        is_on: Whether it is on.
        took: Nanoseconds of the probe's own, since they were last paid for.
        seen: Leaves since then.
    """

    def __init__(self, leaves: Leaves, taps: Taps) -> None:
        self._leaves, self._taps = leaves, taps
        self.is_on = False
        self.took = self.seen = 0
        self._idle = 0

    def switch(self, *, on: bool) -> None:
        """Begin or end to look."""
        if on is not self.is_on:
            self.is_on = on
            self._leaves.want(self, wanted=on)

    def counts(self) -> bool:
        """Take in a leaf; whether it is to be looked at: one of an evaluation is not, and many of them end the look."""
        if not self.is_on:
            return False
        self.seen += 1
        if self._taps.grad_enabled:
            return True
        self._idle += 1
        if self._idle > MOST_IDLE:
            self.switch(on=False)
        return False

    def cost(self) -> int:
        """Return the nanoseconds since this was last asked, and begin anew."""
        total = self.took + self.seen * LEAF_COST
        self.took = self.seen = self._idle = 0
        return total
