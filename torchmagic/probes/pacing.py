"""This file is the pace: on which steps the dear statistics are taken, so that a budget holds."""

from collections import deque
from collections.abc import Iterable

# Before anything is known of a run it may spend this much, so that even ten steps give a full table (ns).
LOAN = 10_000_000
# Self-timed costs miss cold caches and the allocator. At first the truth is taken to be half as much again; then steps
# with a collection are compared with steps without one, each by the 25th percentile of the last ones, which a busy
# machine hardly moves.
TRUE_COST, LEAST_TRUE_COST, MOST_TRUE_COST = 1.5, 1.2, 4.0
STEPS_COMPARED, BETWEEN_COMPARISONS = 64, 16
# Credit never grows past this many steps' worth, so that a slow phase does not pay for a long burst.
MOST_STEPS_SAVED = 200
# The longer a run, the less one more row tells: after n collections of a kind at least n / DENSE steps go by, so that
# a run of ten thousand steps has about three hundred, and costs less than its budget.
DENSE = 4
# A run that has its table goes on with a third of its budget: another row tells less, and the rest is for what no
# clock of ours sees.
SETTLED, SETTLED_SHARE = 16, 1 / 3
# However poor the bucket, each kind is collected after so many steps, later as rarely as what hardly changes, so that
# the end of a run is seen as well as its beginning; activations so many times as often.
LONGEST = 64
OFTEN = {"activations": 2}
# In a short run that would be once: there a rest lasts as long as the run has so far, and this at least. Rests of an
# odd length see the optimizers that step in turn.
SHORTEST_REST = 7
# To be put to rest and woken up costs as much as some steps that one is asked at.
WORTH_A_REST = 8

# What hardly changes is looked at in each of so many first steps.
FIRST_STEPS = 4
# Later a wait of a quarter of the run so far is short beside it: looks are 128 steps apart from step 512 on, and 256
# from step 1,024 on.
SHARE_OF_STEPS, LONGEST_LATER = 4, 256


def longest_rest(step: int) -> int:
    """Return how many steps lie between two looks at what hardly changes: a power of two, so that looks coincide."""
    return 1 << min(max(LONGEST, step // SHARE_OF_STEPS), LONGEST_LATER).bit_length() - 1


def next_look(step: int, *, rest: int = 0) -> int:
    """Return the step at which to look next at what hardly changes: the first ones, then ever more rarely.

    Args:
        step: The present step.
        rest: How many steps lie between two looks at most; 0 for what ``longest_rest`` says.
    """
    if step + 1 < FIRST_STEPS:
        return step + 1
    rest = rest or longest_rest(step)
    return min(1 << step.bit_length(), step - step % rest + rest)


def next_window(step: int, *, width: int) -> int:
    """Return the step at which to look next at what seldom changes: windows of a width, later as for all."""
    apart = width if step < 2 * LONGEST else longest_rest(step)
    return step - step % apart + apart


class Pacer:
    """A token bucket in nanoseconds: each step earns its share of the step's time, each collection pays.

    Args:
        share: Share of the step time that collections may take.
        every: Collect on exactly each so many steps instead; None adapts.
        always: Kinds that are collected at every step, whatever they cost.
    """

    def __init__(self, *, share: float, every: int | None = None, always: frozenset[str] = frozenset()) -> None:
        self._always = always
        self._share = share
        self._every = every
        self._credit = float(LOAN)
        self._costs: dict[str, float] = {}
        self._counts: dict[str, int] = {}
        # Steps at which each kind may, if there is credit, and must be collected next; of kinds left to the pace.
        self._may: dict[str, int] = {}
        self._must: dict[str, int] = {}
        self._step = 0
        self._paid = 0
        self._paid_each: deque[int] = deque(maxlen=STEPS_COMPARED)
        self._with: deque[int] = deque(maxlen=STEPS_COMPARED)
        self._without: deque[int] = deque(maxlen=STEPS_COMPARED)
        self._true_cost = TRUE_COST
        self._income = 0.0

    def change(self, *, share: float, always: frozenset[str]) -> None:
        """Go on with another share, and other kinds that are collected at every step."""
        self._share, self._always = share, always
        for kind in always:
            self._may.pop(kind, None)
            self._must.pop(kind, None)

    def wants(self, kind: str) -> bool:
        """Whether a collection of this kind may run in the present step."""
        step, must = self._step, self._must.get(kind)
        if must is None:  # a kind not yet seen is wanted, or another one's cost could keep it waiting for ever
            return self._every is None or kind in self._always or step % self._every == 0
        return step >= must or (self._credit > self._costs[kind] and step >= self._may[kind])

    def rest(self, kind: str) -> int:
        """Return how many steps go by before a collection of this kind is wanted; 0 where that may be soon."""
        step, must = self._step, self._must.get(kind)
        if must is None:
            return -step % self._every if self._every is not None and kind not in self._always else 0
        lacking = self._costs[kind] - self._credit
        affordable = step if lacking < 0 else step + int(min(lacking / self._income, must)) if self._income else must
        rest = min(must, max(self._may[kind], affordable)) - step
        return rest if rest >= WORTH_A_REST else 0

    def demand(self) -> None:
        """Have every kind collected in the next step that it is asked for in, whatever that costs."""
        for kind in self._must:
            self._must[kind] = self._step

    def pay(self, kind: str, nanoseconds: int) -> None:
        """Book what a collection took."""
        cost = nanoseconds * self._true_cost
        self._paid += nanoseconds
        count = self._counts[kind] = self._counts.get(kind, 0) + 1
        if self._every is None and kind not in self._always:
            self._may[kind] = self._step + count // DENSE
            longest = longest_rest(self._step) // OFTEN.get(kind, 1)
            self._must[kind] = self._step + (min(longest, max(self._step, SHORTEST_REST)) | 1)
        known = self._costs.get(kind)
        self._costs[kind] = cost if known is None else known + 0.3 * (min(cost, 3 * known) - known)
        self._credit -= cost

    def earn(self, nanoseconds: int, ours: int) -> None:
        """End a step that took the user's code so long, and torchmagic, by its own timing, so long.

        What torchmagic takes at every step comes out of the budget first.
        """
        income = self._share * nanoseconds * (SETTLED_SHARE if self._step >= SETTLED else 1.0)
        always = ours - self._paid
        if always > 0:
            income = income - always if income > always else 0.0
        self._income = income
        credit, most = self._credit + income, MOST_STEPS_SAVED * income
        self._credit = min(credit, max(LOAN, most))
        self._step += 1
        if self._paid:
            self._with.append(nanoseconds)
            self._paid_each.append(self._paid)
            self._paid = 0
            if len(self._with) >= BETWEEN_COMPARISONS and self._step % BETWEEN_COMPARISONS == 0:
                self._compare()
        else:
            self._without.append(nanoseconds)

    def _compare(self) -> None:
        """Find out what collections cost beyond what they timed of themselves."""
        if len(self._without) < BETWEEN_COMPARISONS:
            return
        hidden = _low(self._with) - _low(self._without)
        found = 1.0 + hidden / max(_low(self._paid_each), 1)
        self._true_cost += 0.5 * (min(max(found, LEAST_TRUE_COST), MOST_TRUE_COST) - self._true_cost)


def _low(values: Iterable[int]) -> int:
    ordered = sorted(values)
    return ordered[len(ordered) // 4]
