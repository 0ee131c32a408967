"""This file is one mode against the plain loop: both on fresh copies, step by step in turns, timed and compared."""

import dataclasses
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, Self

import torch
from torch import nn

from torchmagic.models.streams import untouched_globals
from torchmagic.probes.unseen import unseen
from torchmagic.tensors.accelerators import rounds_to_tf32
from torchmagic.tuning.agreement import Agreement, Seen, agreement
from torchmagic.tuning.batches import Batch
from torchmagic.tuning.contender import Clock, Contender
from torchmagic.tuning.copies import Training
from torchmagic.tuning.measure import Speedup, Spread, in_turns, speedup, spread
from torchmagic.tuning.modes import OptimizationMode
from torchmagic.tuning.reasons import reason_of
from torchmagic.tuning.setup import Setup, device_of

# The first step compiles, the second is measured for memory, the third runs what these left warm.
NUM_WARM = 3
# So many steps give twelve observations, from which an interval can be told.
FEWEST_STEPS = 24
# Steps beyond those that were asked for end after so many seconds.
MOST_EXTRA_SECONDS = 6.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a comparison is run.

    Args:
        groups: The batches of each optimizer step, on the device; used again from the first where there are too few.
        num_steps: Optimizer steps that the total time is told for.
        options: Choices of the recipes.
        seconds: After so many no further step is begun; None for no limit.
        clock: Tells seconds.
    """

    groups: Sequence[Sequence[Batch]]
    num_steps: int
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    seconds: float | None = None
    clock: Clock = time.perf_counter


class Rival(Protocol):
    """What does the steps of a training by a mode; see ``Contender``."""

    @property
    def setup(self) -> Setup: ...  # noqa: D102 - told there
    def step(self, number: int) -> float: ...  # noqa: D102
    def memory(self, number: int) -> float | None: ...  # noqa: D102
    def seen(self) -> Seen: ...  # noqa: D102
    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a mode is worth, in plain numbers.

    Args:
        mode: The mode.
        step: Seconds of its steps, warm.
        reference: Seconds of the plain loop's.
        speedup: How many times faster it is, and whether that is more than noise.
        first_step: Seconds of its first step, in which it compiles.
        num_steps: Optimizer steps that ``total_time`` is told for.
        total_time: Seconds of that many steps at the median, without loading data, warming up and compiling.
        agreement: Whether it gives the same.
        losses: Its losses, one a step.
        reference_losses: Those of the plain loop.
        memory: Peak of a step in MiB above what was held before it; None where that was not measured.
        reference_memory: The same of the plain loop.
        notes: What else is to be known, one line each.
    """

    mode: OptimizationMode
    step: Spread
    reference: Spread
    speedup: Speedup
    first_step: float
    num_steps: int
    total_time: float
    agreement: Agreement
    losses: tuple[float, ...]
    reference_losses: tuple[float, ...]
    memory: float | None = None
    reference_memory: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def memory_savings(self) -> float | None:
        """Share of the plain loop's peak that is saved; below 0 where it takes more."""
        if self.memory is None or not self.reference_memory:
            return None
        return 1 - self.memory / self.reference_memory

    @property
    def compile_time(self) -> float:
        """Seconds that the first step took beyond a warm one."""
        return max(0.0, self.first_step - self.step.median)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A mode that could not be measured.

    Args:
        mode: The mode.
        reason: Why, in one line.
    """

    mode: OptimizationMode
    reason: str


def compare(training: Training, mode: OptimizationMode, plan: Plan) -> Result | Failure:
    """Train copies by the plain loop and by a mode, in turns, from the same state with the same random numbers.

    Neither the training nor anything global is changed: random number streams, threads, dtypes, autocast. A run that is
    being watched does not see it. What is raised on the way is a failure of the mode, and no exception.

    Args:
        training: The user's; it is copied twice.
        mode: The mode.
        plan: Batches, steps and limits.
    """
    settings: dict[str, Any] = {"groups": plan.groups, "options": plan.options, "clock": plan.clock}
    return in_rivalry(lambda each: Contender(training, each, **settings), mode, plan, dtype=coarsest([training.model]))


def in_rivalry(
    rival: Callable[[OptimizationMode], Rival], mode: OptimizationMode, plan: Plan, *, dtype: torch.dtype
) -> Result | Failure:
    """Let the plain loop and a mode do their steps in turns; see ``compare``.

    Args:
        rival: Makes what does the steps by a mode, on copies of its own.
        mode: The mode.
        plan: Batches, steps and limits.
        dtype: In which the plain loop computes.
    """
    try:
        with unseen(), untouched_globals():
            return _compared(rival, mode, plan, dtype)
    except Exception as error:  # noqa: BLE001 - the user's model and torch's compilers may raise anything; it is told
        return Failure(mode=mode, reason=reason_of(error))


def _compared(
    rival: Callable[[OptimizationMode], Rival], mode: OptimizationMode, plan: Plan, dtype: torch.dtype
) -> Result | Failure:
    with rival(OptimizationMode.NONE) as plain, rival(mode) as other:
        begin = plan.clock()
        reason = _refusal(other, mode)
        if reason:
            return Failure(mode=mode, reason=reason)
        plain.step(0)
        first = other.step(0)
        reason = _refusal(other, mode)  # compiling is tried at the first call
        if reason:
            return Failure(mode=mode, reason=reason)
        memory, reference_memory = other.memory(1), plain.memory(1)
        for number in range(2, NUM_WARM):
            plain.step(number)
            other.step(number)
        goes_on = _Limits(plan, begin)
        number = max(FEWEST_STEPS, min(plan.num_steps, len(plan.groups)))
        pairs = in_turns(plain.step, other.step, first=NUM_WARM, number=number, goes_on=goes_on)
        seen, expected = other.seen(), plain.seen()
        step = spread(pairs.candidate)
        return Result(
            mode=mode,
            step=step,
            reference=spread(pairs.reference),
            speedup=speedup(pairs),
            first_step=first,
            num_steps=plan.num_steps,
            total_time=step.median * plan.num_steps,
            agreement=agreement(
                expected, seen, dtype=dtype, lower=other.setup.dtype, tf32=rounds_to_tf32(device_of(plain.setup.model))
            ),
            losses=seen.losses,
            reference_losses=expected.losses,
            memory=memory,
            reference_memory=reference_memory,
            notes=other.setup.notes.lines(),
        )


class _Limits:
    """When to stop timing: at the limit, and soon after the steps that were asked for."""

    def __init__(self, plan: Plan, begin: float) -> None:
        self._plan, self._begin = plan, begin
        self._extra: float | None = None

    def __call__(self, done: int) -> bool:
        now = self._plan.clock()
        if self._plan.seconds is not None and now - self._begin > self._plan.seconds:
            return False
        if done < min(self._plan.num_steps, len(self._plan.groups)):
            return True
        self._extra = now if self._extra is None else self._extra
        return now - self._extra < MOST_EXTRA_SECONDS


def _refusal(contender: Rival, mode: OptimizationMode) -> str:
    """Return why nothing of a mode is at work, in one line; nothing where something is."""
    notes = contender.setup.notes
    if mode in notes.refused:
        return notes.refused[mode]
    if mode is OptimizationMode.FULL_OPTIMIZATION and notes.in_force == [mode]:
        return "none of its parts is at work: " + "; ".join(notes.lines())
    return ""


def coarsest(models: Iterable[nn.Module]) -> torch.dtype:
    """Return the coarsest floating dtype of the parameters of some models, which rounding is judged by."""
    kinds = [each.dtype for model in models for each in model.parameters() if each.is_floating_point()]
    return max(kinds, key=lambda each: torch.finfo(each).eps, default=torch.float32)


def is_worth_it(result: Result | Failure) -> bool:
    """Whether a mode is faster beyond noise and gives the same, within the rounding of the precision it computes in."""
    if isinstance(result, Failure) or result.agreement.verdict == "differs":
        return False
    return result.speedup.verdict == "faster" and math.isfinite(result.speedup.high)
