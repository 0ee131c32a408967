"""This file is the search for the batch size that trains the most samples a second: a ladder of sizes, then rounds."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from torchmagic.probes.free_memory import free_bytes
from torchmagic.tuning.finders.deadline import Deadline, TimeIsUpError
from torchmagic.tuning.finders.found import FoundRow
from torchmagic.tuning.finders.rounds import ENOUGH_ROUNDS, Timed, in_rounds, preferred
from torchmagic.tuning.finders.sized_steps import SizedSteps, is_full
from torchmagic.tuning.finders.telling import rows_of_rounds
from torchmagic.tuning.peak_memory import MIB
from torchmagic.tuning.reasons import reason_of
from torchmagic.views.numbers import as_bytes, as_seconds

# A step may take such a share of the time limit: it is done some twenty times.
_SHARE_OF_TIME = 1 / 20
# Going up the ladder may take such a share of the time; the rest is for rounds.
_SHARE_FOR_LADDER = 0.5
# Of the free memory: what else the process and the machine need meanwhile is not known.
_SHARE_OF_MEMORY = 0.5
# The ladder ends after so many sizes that are not faster, a sample, than the best before by such a share.
_FLAT, _LEAST_GAIN = 2, 0.03
_MOST_FAILURES = 3
# So many times as slow, a sample, as the fastest on the ladder: then one timing is enough.
_FAR = 3.0


@dataclass(slots=True)
class _Ladder:
    """Sizes that were taken up, in order."""

    sizes: list[int] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    peaks: list[float | None] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    failures: dict[int, str] = field(default_factory=dict)

    @property
    def per_sample(self) -> list[float]:
        return [each / size for each, size in zip(self.seconds, self.sizes, strict=True)]

    @property
    def is_flat(self) -> bool:
        if len(self.sizes) <= _FLAT:
            return False
        return min(self.per_sample[-_FLAT:]) > (1 - _LEAST_GAIN) * min(self.per_sample[:-_FLAT])


def fastest(
    steps: SizedSteps, sizes: Iterable[int], deadline: Deadline, *, is_given: bool, present: int | None = None
) -> tuple[list[FoundRow], int | None]:
    """Find the smallest size that trains as many samples a second as any, as far as can be told.

    Args:
        steps: Steps by batches of any size.
        sizes: From the smallest on.
        deadline: After which no step is begun.
        is_given: Whether all of them are wanted, also where larger ones are seen not to be faster.
        present: The size that is kept where there were few rounds to tell.

    Returns:
        A row for each size, of the seconds of a sample, and the index of the one to take; None where that is not told.
    """
    ladder = _Ladder()
    _climb(steps, sizes, ladder, deadline, is_given=is_given)
    timed = _timed(steps, ladder, deadline)
    chosen = preferred(timed, _order(ladder, timed, present))
    rows = rows_of_rounds([{"batch_size": size} for size in ladder.sizes], timed)
    rows = [_with_figures(row, peak) for row, peak in zip(rows, ladder.peaks, strict=True)]
    size = None if chosen is None else ladder.sizes[chosen]
    failed = [FoundRow(setting={"batch_size": each}, failure=why) for each, why in ladder.failures.items()]
    rows = sorted([*rows, *failed], key=lambda row: int(row.setting["batch_size"]))
    return rows, next((i for i, row in enumerate(rows) if row.setting["batch_size"] == size), None)


def _order(ladder: _Ladder, timed: Sequence[Timed], present: int | None) -> list[int]:
    """Return the order of preference: the smallest first, but with few rounds the present one."""
    few = [size for size, each in zip(ladder.sizes, timed, strict=True) if len(each.times) < ENOUGH_ROUNDS]
    keeps = present in few
    return sorted(range(len(timed)), key=lambda i: (keeps and ladder.sizes[i] != present, i))


def _timed(steps: SizedSteps, ladder: _Ladder, deadline: Deadline) -> list[Timed]:
    """Time the sizes of a ladder in rounds, all but those that are far from the fastest."""
    timed = [Timed(times=(each,), is_slower=True) for each in ladder.per_sample]
    near = [i for i, each in enumerate(ladder.per_sample) if each <= _FAR * min(ladder.per_sample)]
    trials = [steps.per_sample(ladder.numbers[i], ladder.sizes[i]) for i in near]
    for i, each in zip(near, in_rounds(trials, deadline), strict=True):
        timed[i] = each
    return timed


def _climb(steps: SizedSteps, sizes: Iterable[int], ladder: _Ladder, deadline: Deadline, *, is_given: bool) -> None:
    for size in sizes:
        reason = _reason_against(size, ladder, deadline)
        if reason:
            ladder.failures[size] = reason
            return
        try:
            number, peak = steps.begin(size)
            seconds = min(steps.seconds(number), steps.seconds(number))
        except TimeIsUpError as error:
            ladder.failures[size] = str(error)
            return
        except Exception as error:  # noqa: BLE001 - the user's model may raise anything; it is a row
            ladder.failures[size] = reason_of(error)
            full = is_full(error)
        else:
            ladder.sizes.append(size)
            ladder.numbers.append(number)
            ladder.peaks.append(peak)
            ladder.seconds.append(seconds)
            if ladder.is_flat and not is_given:
                return
            continue
        steps.give_up()
        if full or len(ladder.failures) == _MOST_FAILURES:
            return


def _reason_against(size: int, ladder: _Ladder, deadline: Deadline) -> str:
    """Return why a size is not tried, judged by the one before; nothing where it is."""
    if not ladder.sizes:
        return ""
    if deadline.left < (1 - _SHARE_FOR_LADDER) * deadline.seconds:
        return f"half of the time limit of {deadline.seconds:g} s was over before its turn"
    times = size / ladder.sizes[-1]
    seconds = times * ladder.seconds[-1]
    if seconds > _SHARE_OF_TIME * deadline.seconds:
        return f"a step would take about {as_seconds(seconds)}, too long for a time limit of {deadline.seconds:g} s"
    needed, free = times * (ladder.peaks[-1] or 0.0) * MIB, free_bytes()
    if needed > _SHARE_OF_MEMORY * free:
        return f"a step would need about {as_bytes(needed)}, more than half of the {as_bytes(free)} that are free"
    return ""


def _with_figures(row: FoundRow, peak: float | None) -> FoundRow:
    if row.times is None:
        return row
    figures = {"samples_per_second": 1 / row.times.median if row.times.median else float("inf")}
    if peak is not None:
        figures["peak_mib"] = peak
    return FoundRow(setting=row.setting, times=row.times, verdict=row.verdict, figures=figures)


def powers_up_to(most: int | None) -> Iterator[int]:
    """Yield 1, 2, 4 and so on, and last the most, if there is a most.

    Examples:
        >>> list(powers_up_to(10))
        [1, 2, 4, 8, 10]
    """
    size = 1
    while most is None or size < most:
        yield size
        size *= 2
    yield most


def sizes_of(given: Sequence[int]) -> list[int]:
    """Return sizes that were asked for, in order.

    Raises:
        ValueError: If there is none, or one that makes no sense; one line.
    """
    wrong = [each for each in given if not isinstance(each, int) or isinstance(each, bool) or each < 1]
    if wrong or not given:
        raise ValueError(f"sizes={given!r} came; wanted batch sizes from 1 on, such as (16, 32, 64)")
    return sorted(set(given))
