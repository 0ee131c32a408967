"""This file is the pace: on which steps the dear statistics are taken, so that a budget holds."""

# Before anything is known of a run it may spend this much, so that even ten steps give a full table (ns).
LOAN = 10_000_000
# Self-timed costs miss cold caches and the allocator; measured, the truth is about half as much again.
TRUE_COST = 1.5
# Credit never grows past this many steps' worth, so that a slow phase does not pay for a long burst.
MOST_STEPS_SAVED = 200
# However poor the bucket, each kind is collected after so many steps, so that the end of a run is seen as well as its
# beginning; activations more often, because a silent unit is one that stays silent.
LONGEST = 64
LONGEST_REST = {"activations": 16}


class Pacer:
    """A token bucket in nanoseconds: each step earns its share of the step's time, each collection pays.

    Args:
        share: Share of the step time that collections may take.
        every: Collect on exactly each so many steps instead; None adapts.
    """

    def __init__(self, *, share: float, every: int | None = None) -> None:
        self._share = share
        self._every = every
        self._credit = float(LOAN)
        self._costs: dict[str, float] = {}
        self._taken: dict[str, int] = {}
        self._step = 0

    def wants(self, kind: str) -> bool:
        """Whether a collection of this kind may run in the present step."""
        if self._every is not None:
            return self._step % self._every == 0
        rested = self._step - self._taken.get(kind, self._step) >= LONGEST_REST.get(kind, LONGEST)
        return rested or self._credit > self._costs.get(kind, 0.0)

    def pay(self, kind: str, nanoseconds: int) -> None:
        """Book what a collection took."""
        cost = nanoseconds * TRUE_COST
        self._taken[kind] = self._step
        known = self._costs.get(kind)
        self._costs[kind] = cost if known is None else known + 0.3 * (min(cost, 3 * known) - known)
        self._credit -= cost

    def earn(self, nanoseconds: int) -> None:
        """End a step that took so long."""
        income = self._share * nanoseconds
        self._credit = min(self._credit + income, max(float(LOAN), MOST_STEPS_SAVED * income))
        self._step += 1
