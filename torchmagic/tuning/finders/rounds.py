"""This file is how several settings are timed: in rounds, each once a round, until noise explains what is left.

What disturbs a machine lasts longer than a trial, so it falls on all settings of a round; every other round goes
backwards. A setting that is clearly slower takes no part in further rounds.
"""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from torchmagic.tuning.finders.deadline import Deadline, TimeIsUpError
from torchmagic.tuning.measure import Pairs, speedup
from torchmagic.tuning.reasons import reason_of

# All times of one setting so far above all of another, in so many rounds each. Of equal settings chance puts all of the
# second above all of the first once in 20, 70 and 252 cases, and hardly ever by such a factor.
APART = ((3, 1.5), (4, 1.25), (5, 1.1))
# In so many rounds a setting that is not clearly slower is as good as the fastest, as far as can be told.
FEWEST_ROUNDS = 5
# After these rounds, and no others, intervals are looked at: each look is a chance of being wrong.
LOOKS = (8, 16, 32, 64)
# With fewer rounds a true difference may be taken for noise: nothing is told of what looks slower by such a factor.
ENOUGH_ROUNDS = 16
LOOKS_SLOWER = 1.1
# Settings are alike when the fastest is surely less than this faster.
_ALIKE = 0.1

# Times a setting once and returns seconds, of whatever is compared; what it raises is the setting's failure.
Trial = Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """What became of one setting.

    Args:
        times: Seconds, one a round.
        is_slower: Whether it is slower than the fastest beyond noise.
        failure: Why it could not be timed; one line.
    """

    times: tuple[float, ...] = ()
    is_slower: bool = False
    failure: str = ""


@dataclass(slots=True)
class _Lane:
    trial: Trial
    times: list[float] = field(default_factory=list)
    wall: float = 0.0
    is_slower: bool = False
    failure: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.times)


def in_rounds(trials: Sequence[Trial], deadline: Deadline) -> list[Timed]:
    """Time settings until it is told which are the fastest, or the time is over.

    Args:
        trials: One for each setting.
        deadline: When to stop.

    Returns:
        One for each setting, in order.
    """
    lanes = [_Lane(trial) for trial in trials]
    for number in range(1, LOOKS[-1] + 1):
        running = [lane for lane in lanes if not lane.is_slower and not lane.failure]
        if not running or (len(running) == 1 and number > FEWEST_ROUNDS):
            break
        if not _has_run(running if number % 2 else running[::-1], number, deadline):
            break
        running = [lane for lane in running if not lane.failure]
        if _are_told(running, by_interval=number in LOOKS):
            break
    _are_told([lane for lane in lanes if lane.times and not lane.is_slower and not lane.failure], by_interval=True)
    return [
        Timed(
            times=tuple(lane.times),
            is_slower=lane.is_slower,
            failure=lane.failure or ("" if lane.times else deadline.words),
        )
        for lane in lanes
    ]


def _has_run(lanes: Sequence[_Lane], number: int, deadline: Deadline) -> bool:
    """Run a round, unless it would take longer than there is time; of one that was cut short nothing is kept."""
    if sum(lane.wall for lane in lanes) > deadline.left:
        return False
    try:
        for lane in lanes:
            deadline.check()
            begin = deadline.clock()
            _run(lane)
            lane.wall = deadline.clock() - begin
    except TimeIsUpError:
        for lane in lanes:
            del lane.times[max(1, number - 1) :]
        return False
    return True


def _run(lane: _Lane) -> None:
    try:
        lane.times.append(lane.trial())
    except TimeIsUpError:
        raise
    except Exception as error:  # noqa: BLE001 - the user's model, dataset and workers may raise anything; it is told
        lane.failure = reason_of(error)


def _are_told(lanes: Sequence[_Lane], *, by_interval: bool) -> bool:
    """Mark what is slower than the fastest; return whether nothing remains to be told by more rounds."""
    if not lanes:
        return True
    best = min(lanes, key=lambda lane: lane.median)
    rest = [lane for lane in lanes if lane is not best]
    highs = []
    for lane in rest:
        lane.is_slower = are_apart(lane.times, best.times)
        if by_interval and not lane.is_slower:
            found = speedup(_pairs(lane.times, best.times), neighbours=1)
            lane.is_slower = found.verdict == "faster"
            highs.append(found.high)
    if by_interval:
        return all(high < 1 + _ALIKE for high in highs)
    return bool(rest) and all(lane.is_slower for lane in rest)


def are_apart(slower: Sequence[float], faster: Sequence[float]) -> bool:
    """Whether all times of one setting are so far above all of another that chance would hardly do it."""
    number = min(len(slower), len(faster))
    return any(number >= rounds and min(slower[:number]) > gap * max(faster[:number]) for rounds, gap in APART)


def _pairs(reference: Sequence[float], candidate: Sequence[float]) -> Pairs:
    number = min(len(reference), len(candidate))
    return Pairs(reference=tuple(reference[:number]), candidate=tuple(candidate[:number]))


def preferred(found: Sequence[Timed], order: Sequence[int]) -> int | None:
    """Return the first setting, in an order of preference, that is as fast as the fastest, as far as can be told.

    Args:
        found: What became of the settings.
        order: Their indices, the simplest first.

    Returns:
        Its index; None where fewer than two were timed, or too few rounds to tell.
    """
    timed = [each for each in found if each.times and not each.failure]
    left = [i for i in order if found[i].times and not found[i].failure and not found[i].is_slower]
    if len(timed) < 2:  # noqa: PLR2004 - one alone is not the faster of any
        return None
    return left[0] if len(left) == 1 or _is_told(found[left[0]], [found[i] for i in left]) else None


def _is_told(first: Timed, left: Sequence[Timed]) -> bool:
    """Whether there were rounds enough to say that the first is as fast as what is left, or at least looks like it."""
    if len(first.times) < FEWEST_ROUNDS:
        return False
    medians = [statistics.median(each.times) for each in left]
    return len(first.times) >= ENOUGH_ROUNDS or statistics.median(first.times) <= LOOKS_SLOWER * min(medians)
