"""This file is all modes against the plain loop, one after another, each on copies of its own."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from torchmagic.tuning.comparison import Failure, Plan, Result, compare, is_worth_it
from torchmagic.tuning.copies import Training
from torchmagic.tuning.modes import OptimizationMode


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """What all modes are worth.

    Args:
        rows: One a mode, in the order that they were asked for.
        seconds: What measuring took.
    """

    rows: tuple[Result | Failure, ...]
    seconds: float

    @property
    def recommended(self) -> Result | None:
        """The fastest mode that is faster beyond noise and gives the same; None where there is none."""
        worth = [row for row in self.rows if isinstance(row, Result) and is_worth_it(row)]
        return min(worth, key=lambda row: row.total_time / row.reference.median, default=None)


def benchmark(
    training: Training, modes: Sequence[OptimizationMode], plan: Plan, *, seconds: float | None = None
) -> Benchmark:
    """Compare modes with the plain loop.

    Args:
        training: The user's; it is not changed.
        modes: The modes.
        plan: Batches, steps and options.
        seconds: What all together may take, shared evenly among those that are left. A compiler that has begun is not
            stopped. None for no limit.
    """
    begin = plan.clock()
    found = tuple(rows(partial(compare, training), modes, plan, seconds=seconds))
    return Benchmark(rows=found, seconds=plan.clock() - begin)


def rows(
    compared: Callable[[OptimizationMode, Plan], Result | Failure],
    modes: Sequence[OptimizationMode],
    plan: Plan,
    *,
    seconds: float | None = None,
) -> Iterator[Result | Failure]:
    """Yield what each mode is worth, one after another; time that one leaves is shared among those after it.

    Args:
        compared: Compares a mode with the plain loop, by a plan.
        modes: The modes.
        plan: Batches, steps and options.
        seconds: What all together may take; None for no limit.
    """
    begin = plan.clock()
    for i, mode in enumerate(modes):
        if seconds is None:
            yield compared(mode, plan)
            continue
        left = seconds - (plan.clock() - begin)
        if left <= 0:
            yield Failure(mode=mode, reason=f"the time limit of {seconds:g} s was over before its turn")
        else:
            yield compared(mode, replace(plan, seconds=left / (len(modes) - i)))
