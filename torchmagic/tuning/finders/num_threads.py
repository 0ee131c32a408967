"""This file is ``find_num_threads``: on how many threads a step is fastest, by measuring."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from torchmagic.analyses.counting import counted
from torchmagic.tuning.batches import Batch, batch_of
from torchmagic.tuning.contender import Clock, Contender
from torchmagic.tuning.copies import Training, copied_model
from torchmagic.tuning.finders.deadline import Deadline
from torchmagic.tuning.finders.found import FoundRow, FoundSettings
from torchmagic.tuning.finders.quiet import unnoticed
from torchmagic.tuning.finders.repeats import clocked, repeated
from torchmagic.tuning.finders.rounds import Trial, in_rounds, preferred
from torchmagic.tuning.finders.telling import nothing_told, rows_of_rounds, settings_of, time_columns
from torchmagic.tuning.modes import OptimizationMode
from torchmagic.tuning.optimized_model import OptimizedModel
from torchmagic.tuning.recipes.threads import logical_cores, on_threads, physical_cores
from torchmagic.tuning.setup import device_of
from torchmagic.views.numbers import as_number, as_seconds

_TITLE = "Threads"


def find_num_threads(
    work: nn.Module | Callable[[], Any],
    batch: Any = None,
    *,
    optimizer: torch.optim.Optimizer | None = None,
    criterion: Any = None,
    numbers: Sequence[int] | None = None,
    time_limit: float = 10.0,
) -> FoundSettings:
    """Find on how many threads operators should run, ``torch.set_num_threads``, by timing steps on the CPU.

    Of a model copies are run, and nothing of it is changed: weights, buffers, gradients, optimizer state, modes. Number
    of threads and random number streams are afterwards as before. The present number is kept unless another is faster
    beyond noise.

    Args:
        work: A model; or a function without arguments that does a step, which is run as it is, with all that it does.
        batch: What the model takes, as a loader gives it; with a criterion ``(input, target)``.
        optimizer: Steps the model's parameters: training steps are timed. Without one, forwards in evaluation mode.
        criterion: Takes outputs and target and returns the loss; None for a model that returns its loss.
        numbers: Numbers of threads to try, beside the present one; powers of two up to the cores otherwise.
        time_limit: Seconds after which no further step is begun.

    Raises:
        TypeError: If there is nothing to run, or the batch cannot be read; one line.
        ValueError: If a number makes no sense, the model is not on the CPU or cannot be copied; one line.
    """
    deadline = Deadline(time_limit)
    now = torch.get_num_threads()
    wanted = _numbers(numbers, now)
    with unnoticed():
        step = _step(work, batch, optimizer, criterion, deadline.clock)
        timed = in_rounds([_trial(step, number, deadline) for number in wanted], deadline)
    rows = rows_of_rounds([{"num_threads": each} for each in wanted], timed)
    order = sorted(range(len(wanted)), key=lambda i: (wanted[i] != now, wanted[i]))
    chosen = preferred(timed, order)
    return settings_of(
        _TITLE,
        headline=_headline(rows, chosen, wanted.index(now), deadline),
        rows=rows,
        columns=time_columns("a step"),
        recommended=None if chosen is None else rows[chosen].setting,
        code="" if chosen is None or wanted[chosen] == now else f"torch.set_num_threads({wanted[chosen]})",
        notes=(),
        deadline=deadline,
    )


def _numbers(numbers: Sequence[int] | None, now: int) -> list[int]:
    if numbers is None:
        cores = logical_cores()
        powers = {2**i for i in range(cores.bit_length()) if 2**i <= cores}
        return sorted({*powers, cores, physical_cores(), now})
    wrong = [each for each in numbers if not isinstance(each, int) or isinstance(each, bool) or each < 1]
    if wrong or not numbers:
        raise ValueError(f"numbers={numbers!r} came; wanted numbers of threads from 1 on, such as (1, 2, 4)")
    return sorted({*numbers, now})


def _trial(step: Callable[[], float], number: int, deadline: Deadline) -> Trial:
    def trial() -> float:
        with on_threads(number):
            deadline.check()
            step()  # another number of threads makes new ones
            return repeated(step, deadline)

    return trial


def _step(work: Any, batch: Any, optimizer: Any, criterion: Any, clock: Clock) -> Callable[[], float]:
    """Return what does one step, of a copy where it is a model's, and returns its seconds."""
    if not isinstance(work, nn.Module):
        return clocked(_function(work, batch), clock)
    if device_of(work).type != "cpu":
        raise ValueError(f"the model is on {device_of(work)}; the number of threads matters to models on the CPU")
    if batch is None:
        raise TypeError("a model came without a batch; give one: find_num_threads(model, batch)")
    if optimizer is None:
        asked = OptimizedModel(copied_model(work), OptimizationMode.INFERENCE)
        one = _arguments(batch, criterion)
        return clocked(lambda: asked(*one.args, **one.kwargs), clock)
    training = Training(model=work, optimizer=optimizer, criterion=criterion)
    groups = [[batch_of(batch, torch.device("cpu"), has_criterion=criterion is not None)]]
    contender = Contender(training, OptimizationMode.NONE, groups=groups, options={}, clock=clock)
    return lambda: contender.step(0)


def _arguments(batch: Any, criterion: Any) -> Batch:
    """Return what a model takes that is only asked: of a pair the first, where a criterion takes the other."""
    if isinstance(batch, torch.Tensor):
        return Batch(args=(batch,))
    return batch_of(batch, torch.device("cpu"), has_criterion=criterion is not None)


def _function(work: Any, batch: Any) -> Callable[[], Any]:
    if not callable(work) or isinstance(work, type):
        raise TypeError(f"a {type(work).__name__} came; wanted a model with a batch, or a function that does a step")
    if batch is not None:
        raise TypeError("a function came with a batch; wanted one without arguments, such as lambda: step(batch)")
    try:
        inspect.signature(work).bind()
    except TypeError as error:
        raise TypeError(f"a function came that cannot be called without arguments ({error}); wrap it") from None
    except ValueError:  # some of C's have no signature
        pass
    function: Callable[[], Any] = work
    return function


def _headline(rows: Sequence[FoundRow], chosen: int | None, now: int, deadline: Deadline) -> str:
    present = rows[now]
    if chosen is None:
        return nothing_told(rows, "step", deadline)
    number, best = rows[chosen].setting["num_threads"], rows[chosen]
    if chosen == now:
        return f"Keep {counted(number, 'thread')}: no other number is faster beyond noise."
    said = f"Take {counted(number, 'thread')}: a step takes {as_seconds(best.median or 0.0)}"
    if present.median is None:
        return f"{said}."
    times = present.median / (best.median or present.median)
    return (
        f"{said} instead of {as_seconds(present.median)} on {counted(present.setting['num_threads'], 'thread')}, "
        f"{as_number(round(times, 2))} times as fast."
    )
