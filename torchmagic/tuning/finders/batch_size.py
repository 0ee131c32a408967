"""This file is ``find_batch_size``: the largest batch that fits, or the one that trains most samples a second."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from torchmagic.analyses.counting import counted
from torchmagic.tuning.batches import Batch
from torchmagic.tuning.copies import Training
from torchmagic.tuning.finders.deadline import Deadline
from torchmagic.tuning.finders.fastest_batch import fastest, powers_up_to, sizes_of
from torchmagic.tuning.finders.found import FoundRow, FoundSettings
from torchmagic.tuning.finders.largest_batch import MOST, Fitting, held_on, largest, room_on
from torchmagic.tuning.finders.quiet import unnoticed
from torchmagic.tuning.finders.sample import Sample, sample_of
from torchmagic.tuning.finders.sized_steps import SizedSteps
from torchmagic.tuning.finders.telling import Columns, nothing_told, settings_of, time_columns
from torchmagic.tuning.measure import Spread
from torchmagic.tuning.peak_memory import MIB
from torchmagic.tuning.setup import device_of
from torchmagic.views.numbers import as_bytes, as_count, as_number, as_share

FASTEST, LARGEST = "fastest", "largest"
HEADROOM = 0.1
_TITLE = "Batch size"
_OTHER_STEPS = (
    "Another batch size is another training: fewer and less noisy steps an epoch, for which the learning rate is often "
    "raised."
)


def find_batch_size(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    criterion: Any,
    data: DataLoader[Any] | Dataset[Any] | Batch | Any,
    *,
    goal: str | None = None,
    sizes: Sequence[int] | None = None,
    headroom: float = HEADROOM,
    time_limit: float = 30.0,
) -> FoundSettings:
    """Find a batch size by training steps of a copy: the largest that fits on CUDA, the fastest elsewhere.

    The fastest is the smallest size that trains as many samples a second as any other, as far as can be told: a gain
    inside the noise does not count. The largest leaves a share of the memory free. Model, optimizer, data, gradients,
    modes and random number streams stay as they are, bit for bit.

    Args:
        model: The model; a copy is trained, on its device and in its mode.
        optimizer: Steps the model's parameters.
        criterion: Takes outputs and target and returns the loss; None for a model that returns its loss.
        data: A ``DataLoader``, a dataset, or one batch as a loader gives it, ``(input, target)``. Batches of other
            sizes are its first rows, again from the first where they are too few.
        goal: ``"fastest"`` or ``"largest"``; where nothing is given ``"largest"`` on CUDA, ``"fastest"`` elsewhere.
        sizes: Those to try; powers of two otherwise, and for the largest what lies between.
        headroom: Share 0..1 of the free memory that the largest is to leave.
        time_limit: Seconds after which no further step is begun.

    Raises:
        TypeError: If the data cannot be read; one line.
        ValueError: If a number makes no sense, or model and optimizer cannot be copied; one line.
    """
    deadline = Deadline(time_limit)
    device = _checked_device(model, optimizer)
    given = None if sizes is None else sizes_of(sizes)
    goal = _goal(goal, device)
    if not isinstance(headroom, int | float) or not 0 <= headroom < 1:
        raise ValueError(f"headroom={headroom!r} came; wanted a share of the memory, from 0 to below 1, such as 0.1")
    training = Training(model=model, optimizer=optimizer, criterion=criterion)
    with unnoticed():
        room, held = room_on(device), held_on(device)
        sample = sample_of(data, device, deadline, has_criterion=criterion is not None)
        steps = SizedSteps(training, sample, deadline)
        if goal == FASTEST:
            candidates: Iterable[int] = given or powers_up_to(sample.most)
            rows, chosen = fastest(steps, candidates, deadline, is_given=given is not None, present=sample.present)
        else:
            fitting = Fitting(
                steps, room=room, headroom=headroom, deadline=deadline, held=lambda: held_on(device) - held
            )
            rows, chosen = _largest(fitting, given, min(sample.most or MOST, MOST))
    return _found(rows, chosen, sample, room, goal=goal, notes=steps.notes, deadline=deadline)


def _checked_device(model: Any, optimizer: Any) -> torch.device:
    if not isinstance(model, nn.Module):
        raise TypeError(f"a {type(model).__name__} came as the model; wanted a torch.nn.Module")
    if not isinstance(optimizer, torch.optim.Optimizer):
        raise TypeError(f"a {type(optimizer).__name__} came as the optimizer; wanted one of torch.optim")
    return device_of(model)


def _goal(goal: str | None, device: torch.device) -> str:
    if goal is None:
        return LARGEST if device.type == "cuda" else FASTEST
    if goal not in (FASTEST, LARGEST):
        raise ValueError(f"goal={goal!r} came; wanted {FASTEST!r} or {LARGEST!r}")
    return goal


def _largest(fitting: Fitting, sizes: Sequence[int] | None, most: int) -> tuple[list[FoundRow], int | None]:
    tried = sorted(largest(fitting, sizes, most), key=lambda each: each.size)
    return [each.row for each in tried], max((i for i, each in enumerate(tried) if each.fits), default=None)


def _found(
    rows: Sequence[FoundRow],
    chosen: int | None,
    sample: Sample,
    room: int,
    *,
    goal: str,
    notes: Sequence[str],
    deadline: Deadline,
) -> FoundSettings:
    best = None if chosen is None else rows[chosen]
    if best is None:
        headline = nothing_told(rows, "batch size", deadline)
    else:
        headline = _fastest_words(rows, best, sample) if goal == FASTEST else _largest_words(rows, best, room)
    changes = best is not None and best.setting["batch_size"] != sample.present
    return settings_of(
        _TITLE,
        headline=headline,
        rows=rows,
        columns=_columns(goal),
        recommended=best.setting if best is not None else None,
        code=f"DataLoader(..., batch_size={best.setting['batch_size']})" if best is not None and changes else "",
        notes=(*notes, *((_other_steps(best, sample),) if best is not None and changes else ())),
        deadline=deadline,
    )


def _other_steps(best: FoundRow, sample: Sample) -> str:
    if sample.most is None:
        return _OTHER_STEPS
    number = -(-sample.most // best.setting["batch_size"])
    return f"{_OTHER_STEPS} An epoch of {sample.most:,} samples is then {counted(number, 'step')}."


def _columns(goal: str) -> Columns:
    columns: dict[str, Callable[[FoundRow], Any]] = {"samples/s": _rate, **time_columns("a sample")}
    if goal == LARGEST:
        columns = {"samples/s": _rate, "headroom": lambda row: _figure(row, "headroom", as_share)}
    return {**columns, "peak of a step": lambda row: _figure(row, "peak_mib", lambda mib: as_bytes(mib * MIB))}


def _rate(row: FoundRow) -> str | None:
    return _figure(row, "samples_per_second", as_count)


def _figure(row: FoundRow, name: str, words: Callable[[float], str]) -> str | None:
    return words(row.figures[name]) if name in row.figures else None


def _fastest_words(rows: Sequence[FoundRow], best: FoundRow, sample: Sample) -> str:
    size = best.setting["batch_size"]
    now = next((row for row in rows if row.setting["batch_size"] == sample.present and row.times), None)
    if now is best:
        return f"Keep batch_size={size}: it trains {_rate(best)} samples a second, and no other more beyond noise."
    said = f"Take batch_size={size}: it trains {_rate(best)} samples a second"
    if now is not None:
        said += f", {_times(now.times, best.times)} times as many as the present {sample.present}"
    larger = [row for row in rows if row.setting["batch_size"] > size]
    if any(row.times for row in larger):
        return f"{said}; no larger one trains more beyond noise."
    return f"{said}; larger ones were not tried." if larger else f"{said}."


def _times(slow: Spread | None, fast: Spread | None) -> str:
    return as_number(round(slow.median / fast.median, 2)) if slow and fast and fast.median else "many"


def _largest_words(rows: Sequence[FoundRow], best: FoundRow, room: int) -> str:
    figures: Mapping[str, float] = best.figures
    size = best.setting["batch_size"]
    said = f"batch_size={size} is the largest that fits"
    if best is rows[-1]:
        said = f"batch_size={size} fits, the largest that was tried"
    if "headroom" not in figures:
        return f"{said}; how much memory it leaves cannot be measured on this device."
    return f"{said}: it leaves {as_share(figures['headroom'])} of the {as_bytes(room)} that were free."
