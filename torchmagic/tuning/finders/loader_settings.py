"""This file is ``find_loader_settings``: workers, prefetch and pinned memory of a ``DataLoader``, by measuring."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader

from torchmagic.tensors.accelerators import wait_for
from torchmagic.tuning.batches import batch_of
from torchmagic.tuning.copies import Training, copied
from torchmagic.tuning.finders.deadline import Deadline, TimeIsUpError
from torchmagic.tuning.finders.found import FoundRow, FoundSettings
from torchmagic.tuning.finders.loader_trial import LoaderTrial, no_step, restarts, step_of
from torchmagic.tuning.finders.quiet import unnoticed
from torchmagic.tuning.finders.rounds import Timed, in_rounds, preferred
from torchmagic.tuning.finders.telling import nothing_told, rows_of_rounds, settings_of, time_columns, written
from torchmagic.tuning.finders.trial_loader import indices_of
from torchmagic.tuning.recipes.threads import logical_cores
from torchmagic.tuning.setup import Setup, device_of
from torchmagic.tuning.training_step import TrainingStep
from torchmagic.views.numbers import as_number, as_seconds

PREFETCH_FACTORS = (2, 4)
_TITLE = "Loader settings"
_DEFAULT_PREFETCH = 2
# Of the time that is left: for workers and prefetch, less where there is a device and thus pinned memory, and of the
# rest for that.
_FIRST_SHARE, _SHARE_BEFORE_PINNING, _SECOND_SHARE = 0.9, 0.6, 0.8
_KEPT = (
    "persistent_workers=True keeps the workers, and their copy of the dataset, from one pass to the next: what you "
    "change in the dataset between passes does not reach them."
)


def find_loader_settings(
    loader: DataLoader[Any],
    model: nn.Module | None = None,
    optimizer: torch.optim.Optimizer | None = None,
    criterion: Any = None,
    *,
    step_seconds: float = 0.0,
    num_workers: Sequence[int] | None = None,
    prefetch_factors: Sequence[int] = PREFETCH_FACTORS,
    time_limit: float = 30.0,
) -> FoundSettings:
    """Find how many workers a loader should have, and how far ahead they should load, by timing passes over copies.

    What is compared are the seconds from one batch to the next, the step between them included: beside a long step a
    slow loader may cost nothing. Give model and optimizer, so that copies are trained meanwhile and compete with the
    workers for cores, or ``step_seconds``; without either the loader alone is timed. The present settings are kept
    unless others are faster beyond noise.

    The loader is not iterated over. Its samplers, generators, workers, and random number streams stay as they are; so
    do the attributes of the dataset. All processes that were started have ended.

    Args:
        loader: The loader.
        model: The model that is trained.
        optimizer: Steps its parameters.
        criterion: Takes outputs and target and returns the loss; None for a model that returns its loss.
        step_seconds: How long a step takes without its batch, where no model is given; it is waited for so long.
        num_workers: Numbers to try, beside the present one; 0 and powers of two up to the cores otherwise.
        prefetch_factors: Batches that each worker loads ahead, to be tried.
        time_limit: Seconds after which no further batch is waited for. A sample that this process itself loads is not
            interrupted.

    Raises:
        TypeError: If no loader came, or a model without optimizer; one line.
        ValueError: If a number makes no sense, or the dataset gives each item once; one line.
    """
    deadline = Deadline(time_limit)
    settings = _settings(loader, num_workers, prefetch_factors)
    step = _checked_step(model, optimizer, step_seconds)
    with unnoticed():
        if model is not None and optimizer is not None:
            step = _training(Training(model=model, optimizer=optimizer, criterion=criterion))
        search = _Search(loader, step, deadline, device_of(model) if model is not None else torch.device("cpu"))
        pins = torch.cuda.is_available()
        later = pins and len(settings) > 1
        if pins and not later:  # nothing else to compare it with
            settings += [{**settings[0], "pin_memory": not settings[0]["pin_memory"]}]
        rows, chosen = search.among(settings, deadline.part(_SHARE_BEFORE_PINNING if later else _FIRST_SHARE))
        if later and chosen is not None:
            pinned = [{**rows[chosen].setting, "pin_memory": each} for each in (False, True)]
            rows, chosen = search.pinned(rows, chosen, pinned, deadline.part(_SECOND_SHARE))
        keeps = chosen is not None and search.restarts_are_faster(rows[chosen].setting)
    return _found(loader, rows, chosen, keeps=keeps, deadline=deadline, has_step=step is not no_step)


def _settings(
    loader: Any, num_workers: Sequence[int] | None, prefetch_factors: Sequence[int]
) -> list[Mapping[str, Any]]:
    """Return the settings to try, the present ones first."""
    if not isinstance(loader, DataLoader):
        raise TypeError(f"a {type(loader).__name__} came; wanted a torch.utils.data.DataLoader")
    cores = logical_cores()
    powers = [2**i for i in range(cores.bit_length()) if 2**i <= cores]
    numbers = sorted({0, *powers, cores}) if num_workers is None else sorted(set(num_workers))
    for name, values, least in (("num_workers", numbers, 0), ("prefetch_factors", prefetch_factors, 1)):
        if not values or any(not isinstance(each, int) or isinstance(each, bool) or each < least for each in values):
            raise ValueError(f"{name}={values!r} came; wanted whole numbers from {least} on, such as (1, 2, 4)")
    pin = loader.pin_memory
    present = _setting(loader.num_workers, loader.prefetch_factor, pin)
    others = [
        _setting(number, prefetch, pin)
        for number in numbers
        for prefetch in (sorted(set(prefetch_factors)) if number else (None,))
    ]
    return [present, *(each for each in others if each != present)]


def _setting(num_workers: int, prefetch: int | None, pin: Any) -> dict[str, Any]:
    factor = (prefetch or _DEFAULT_PREFETCH) if num_workers else None
    return {"num_workers": num_workers, "prefetch_factor": factor, "pin_memory": bool(pin)}


def _checked_step(model: Any, optimizer: Any, seconds: float) -> Callable[[Any], Any]:
    if model is not None and not isinstance(model, nn.Module):
        raise TypeError(f"a {type(model).__name__} came as the model; wanted a torch.nn.Module")
    if (model is None) != (optimizer is None):
        raise TypeError(
            "a model and its optimizer are given together, so that steps of copies can be timed; one is missing"
        )
    if not isinstance(seconds, int | float) or not 0 <= seconds < float("inf"):
        raise ValueError(f"step_seconds={seconds!r} came; wanted the seconds of a step, 0 or more")
    return step_of(seconds) if seconds else no_step


def _training(training: Training) -> Callable[[Any], Any]:
    """Return what trains a copy with each batch."""
    own = copied(training)
    device, has_criterion = device_of(own.model), own.criterion is not None
    run = TrainingStep(Setup(model=own.model, call=own.model, optimizer=own.optimizer), own.criterion)
    return lambda batch: run([batch_of(batch, device, has_criterion=has_criterion)])


class _Search:
    """Trials of one loader."""

    def __init__(
        self, loader: DataLoader[Any], step: Callable[[Any], Any], deadline: Deadline, device: torch.device
    ) -> None:
        self._loader, self._step, self._deadline, self._device = loader, step, deadline, device
        self._indices = indices_of(loader, deadline)
        self._starts: dict[str, list[float]] = {}

    def among(self, settings: Sequence[Mapping[str, Any]], deadline: Deadline) -> tuple[list[FoundRow], int | None]:
        """Time settings; return their rows and the index of the one to take: the first, unless another is faster."""
        trials = [self._trial(each, deadline) for each in settings]
        timed: list[Timed] = in_rounds(trials, deadline)
        self._starts.update((written(each), trial.starts) for each, trial in zip(settings, trials, strict=True))
        rows = rows_of_rounds(settings, timed, lambda i: trials[i].figures())
        return rows, preferred(timed, range(len(settings)))

    def pinned(
        self, rows: list[FoundRow], chosen: int, settings: Sequence[Mapping[str, Any]], deadline: Deadline
    ) -> tuple[list[FoundRow], int]:
        """Time the chosen setting with pinned memory and without; add the row of what it was not before."""
        mine = sorted(settings, key=lambda each: each != rows[chosen].setting)
        found, best = self.among(mine, deadline)
        rows = [*rows, found[1]]
        return rows, chosen if best is None or best == 0 else len(rows) - 1

    def restarts_are_faster(self, setting: Mapping[str, Any]) -> bool:
        """Whether passes begin faster, each of them, where workers are kept."""
        starts = self._starts.get(written(setting), [])
        if not setting["num_workers"] or not starts:
            return False
        try:
            again = restarts(self._loader, setting, self._indices, self._deadline)
        except (TimeIsUpError, RuntimeError, ValueError):
            return False
        return statistics.median(again) < min(starts)

    def _trial(self, setting: Mapping[str, Any], deadline: Deadline) -> LoaderTrial:
        return LoaderTrial(self._loader, setting, self._indices, step=self._step, wait=self._wait, deadline=deadline)

    def _wait(self) -> None:
        wait_for(self._device)


def _found(
    loader: DataLoader[Any],
    rows: Sequence[FoundRow],
    chosen: int | None,
    *,
    keeps: bool,
    deadline: Deadline,
    has_step: bool,
) -> FoundSettings:
    recommended, code = None, ""
    if chosen is not None:
        persists = bool(rows[chosen].setting["num_workers"]) and (keeps or loader.persistent_workers)
        recommended = {**rows[chosen].setting, "persistent_workers": persists}
        present = {**rows[0].setting, "persistent_workers": loader.persistent_workers}
        code = "" if recommended == present else _code(recommended)
    what = "a batch and its step" if has_step else "a batch"
    short = "batch + step" if has_step else "a batch"
    columns = {
        **time_columns(short),
        "waiting": lambda row: _seconds(row, "wait"),
        "first batch": lambda row: _seconds(row, "start"),
    }
    return settings_of(
        _TITLE,
        headline=_headline(rows, chosen, what, deadline, changes=bool(code)),
        rows=rows,
        columns=columns,
        recommended=recommended,
        code=code,
        notes=(_KEPT,) if keeps and not loader.persistent_workers else (),
        deadline=deadline,
    )


def _seconds(row: FoundRow, name: str) -> str | None:
    return as_seconds(row.figures[name]) if name in row.figures else None


def _code(setting: Mapping[str, Any]) -> str:
    given = {name: each for name, each in setting.items() if each is not None and each is not False}
    return f"DataLoader(..., {written(given)})"


def _headline(rows: Sequence[FoundRow], chosen: int | None, what: str, deadline: Deadline, *, changes: bool) -> str:
    if chosen is None:
        return nothing_told(rows, "batch", deadline)
    now, best = rows[0], rows[chosen]
    if best is now:
        kept = f"Keep {written({'num_workers': now.setting['num_workers']})}: nothing else is faster beyond noise"
        return f"{kept}; but keep the workers from pass to pass." if changes else f"{kept}."
    said = f"Take {written({'num_workers': best.setting['num_workers']})}: {what} take{'' if ' and ' in what else 's'} "
    said += as_seconds(best.median or 0.0)
    if now.median is None:
        return f"{said}. The present setting failed: {now.failure}"
    times = now.median / (best.median or now.median)
    return f"{said} instead of {as_seconds(now.median)}, {as_number(round(times, 2))} times as fast."
