"""This file is ``PyTorchOptimizer``: a training loop that runs by a mode, and the comparison of all modes."""

import math
import time
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import nn

from torchmagic.tuning.batches import Batch
from torchmagic.tuning.benchmark import benchmark
from torchmagic.tuning.comparison import Failure, Plan, Result, compare
from torchmagic.tuning.copies import Training
from torchmagic.tuning.loading import grouped, peeked, steps_in
from torchmagic.tuning.metrics import OptimizationMetrics
from torchmagic.tuning.modes import OptimizationMode, mode_of
from torchmagic.tuning.peak_memory import MIB
from torchmagic.tuning.recipe import applied
from torchmagic.tuning.recipes.catalogue import check_options, recipe_of
from torchmagic.tuning.setup import Setup, device_of
from torchmagic.tuning.told import told
from torchmagic.tuning.training_loop import train

# Batches that are kept to compare modes on: of a benchmark, and before a training.
MOST_BATCHES, COMPARED_BATCHES = 64, 8
# The example of the document hands the tool itself in where torch's optimizer is wanted.
STEPPED_BY_ADAM = "a PyTorchOptimizer came as the optimizer, which steps nothing; torch.optim.Adam does it in its place"
_FULL = OptimizationMode.FULL_OPTIMIZATION


class PyTorchOptimizer:
    """Trains by an optimisation mode, and measures what the mode is worth.

    A batch is ``(input, target)``, or more inputs and the target last, or one tensor that is both, or, without a
    criterion, what a model takes that returns its loss: a mapping by names, or a sequence.

    Args:
        debugger: Anything with a list ``optimization_metrics``, such as a ``PyTorchDebugger``, to which the metrics of
            each training are added; or None.

    Attributes:
        optimization_metrics: The metrics of each training, oldest first.

    Raises:
        TypeError: If the debugger has no such list; one line.
    """

    def __init__(self, debugger: Any = None) -> None:
        if debugger is not None and getattr(debugger, "optimization_metrics", None) is None:
            came = f"a {type(debugger).__name__} came as the debugger"
            raise TypeError(f"{came}; wanted one with a list optimization_metrics, such as a PyTorchDebugger, or None")
        self.debugger = debugger
        self.optimization_metrics: list[OptimizationMetrics] = []

    def optimize_training_loop(  # noqa: PLR0917 - by position as the document has it
        self,
        model: nn.Module,
        dataloader: Iterable[Any],
        optimizer: "torch.optim.Optimizer | PyTorchOptimizer",
        criterion: Any = None,
        epochs: int = 1,
        optimization_mode: OptimizationMode | str = _FULL,
        accumulation_steps: int = 1,
        *,
        measure: bool = True,
        progress: bool = True,
        time_limit: float | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        """Train the model by a mode, and say how much faster and smaller that is than the plain loop.

        What it wins is measured before, on copies. The model is trained in the mode (``train()``, ``eval()``) it is in.

        Args:
            model: The model.
            dataloader: A loader or other iterable of batches.
            optimizer: Steps the model's parameters; in place of a ``PyTorchOptimizer`` a new ``torch.optim.Adam`` does.
            criterion: Takes outputs and target and returns the loss; None for a model that returns its loss.
            epochs: Passes over the loader.
            optimization_mode: An ``OptimizationMode`` or its name.
            accumulation_steps: Batches whose gradients are added up for one step, as if they were one batch.
            measure: Whether to compare before.
            progress: Whether to show a progress bar.
            time_limit: Seconds after which the comparison begins no further step.
            options: Choices of the recipes; see ``optimize_model``.

        Returns:
            ``losses`` (one an optimizer step), ``epoch_losses`` (means), ``num_steps``, ``total_time`` (seconds of the
            training alone), ``comparison_time``, ``mode``, ``notes``, and ``optimization_metrics``: the fields of
            ``OptimizationMetrics`` by name; a ``speedup_factor`` that was not measured is NaN.

        Raises:
            TypeError: If a batch cannot be read, or what came as the model or the optimizer is none.
            ValueError: If a mode, option or number does not exist, or the loader gives no batch.
        """
        mode = _checked(optimization_mode, options, epochs=epochs, accumulation_steps=accumulation_steps)
        training = Training(model=model, optimizer=_stepping(optimizer, model), criterion=criterion)
        begin, found = time.perf_counter(), None
        if measure:
            batches, dataloader = peeked(dataloader, COMPARED_BATCHES * accumulation_steps)
            groups = _groups(training, batches, accumulation_steps)
            found = compare(
                training, mode, Plan(groups=groups, num_steps=len(groups), options=options, seconds=time_limit)
            )
        setup = applied(recipe_of(mode), Setup(model=model, call=model, optimizer=training.optimizer, options=options))
        middle = time.perf_counter()
        losses = train(
            training, setup, dataloader, epochs=epochs, accumulation_steps=accumulation_steps, progress=progress
        )
        if training.optimizer is not optimizer:
            setup.notes.remarks.append(STEPPED_BY_ADAM)
        metrics = _metrics(mode, setup, found, time.perf_counter() - middle, accumulation_steps)
        self._add(metrics)
        return {**_training_told(metrics, losses), "comparison_time": middle - begin}

    def benchmark_optimizations(  # noqa: PLR0917 - by position as the document has it
        self,
        model: nn.Module,
        dataloader: Iterable[Any],
        optimizer: "torch.optim.Optimizer | PyTorchOptimizer",
        criterion: Any = None,
        epochs: int = 1,
        modes: Iterable[OptimizationMode | str] | None = None,
        time_limit: float | None = None,
        accumulation_steps: int = 1,
        **options: Any,
    ) -> dict[OptimizationMode, dict[str, Any]]:
        """Measure what each mode would be worth; neither model nor optimizer nor anything global is changed.

        Each mode is compared with the plain loop on fresh copies, optimizer state included, with the same batches and
        the same random numbers, step by step in turns. A mode that fails or does not apply is an entry with its reason.

        Args:
            model: The model.
            dataloader: A loader or other iterable of batches, of which at most 64 steps' are kept, and used again.
            optimizer: Steps the model's parameters; in place of a ``PyTorchOptimizer`` a new ``torch.optim.Adam`` does.
            criterion: Takes outputs and target and returns the loss; None for a model that returns its loss.
            epochs: Passes over the loader that ``total_time`` is told for.
            modes: Which; all, where nothing is given.
            time_limit: Seconds for all modes together. A compiler that has begun is not stopped.
            accumulation_steps: Batches whose gradients are added up for one step.
            options: Choices of the recipes; see ``optimize_model``.

        Returns:
            By mode, which is also found by its name: ``total_time`` (seconds of all steps at the median, without
            loading, warm-up and compiling), ``step_time`` with quartiles, ``speedup_factor`` with its 99% interval
            and verdict, ``compile_time``, ``memory`` (MiB), ``memory_savings``, ``agreement`` and the differences
            behind it, ``losses``, ``notes``. A mode that failed has ``error``, and a ``total_time`` of infinity, so
            that the least is that of one that works.

        Raises:
            TypeError: If a batch cannot be read, or what came as the model or the optimizer is none.
            ValueError: If a mode, option or number does not exist, or the loader gives no batch.
        """
        numbers = {"epochs": epochs, "accumulation_steps": accumulation_steps}
        wanted = [_checked(mode, options, **numbers) for mode in _names(modes)]
        training = Training(model=model, optimizer=_stepping(optimizer, model), criterion=criterion)
        groups = _groups(training, peeked(dataloader, MOST_BATCHES * accumulation_steps)[0], accumulation_steps)
        num_steps = epochs * (steps_in(dataloader, accumulation_steps) or len(groups))
        plan = Plan(groups=groups, num_steps=num_steps, options=options)
        return {row.mode: told(row) for row in benchmark(training, wanted, plan, seconds=time_limit).rows}

    def _add(self, metrics: OptimizationMetrics) -> None:
        self.optimization_metrics.append(metrics)
        if self.debugger is not None:
            self.debugger.optimization_metrics.append(metrics)


def _names(modes: Any) -> Iterable[OptimizationMode | str]:
    """Return what was named; a text is one name, or several with commas between them."""
    if modes is not None and not isinstance(modes, Iterable):
        raise TypeError(f"modes={modes!r} came; wanted names of modes")
    return (modes.replace(",", " ").split() if isinstance(modes, str) else modes) or OptimizationMode


def _stepping(optimizer: Any, model: Any) -> torch.optim.Optimizer:
    if not isinstance(model, nn.Module):
        raise TypeError(f"a {type(model).__name__} came as the model; wanted a torch.nn.Module")
    if isinstance(optimizer, PyTorchOptimizer):
        return torch.optim.Adam([each for each in model.parameters() if each.requires_grad])
    if not hasattr(optimizer, "step"):
        raise TypeError(f"a {type(optimizer).__name__} came as the optimizer; wanted one of torch.optim")
    stepping: torch.optim.Optimizer = optimizer
    return stepping


def _checked(mode: OptimizationMode | str, options: Iterable[str], **numbers: int) -> OptimizationMode:
    check_options(options)
    for name, value in numbers.items():
        if not isinstance(value, int) or value < 1:
            raise ValueError(f"{name}={value!r} came; wanted a whole number from 1 on")
    return mode_of(mode)


def _groups(training: Training, batches: Iterable[Any], number: int) -> list[Sequence[Batch]]:
    has_criterion = training.criterion is not None
    return list(grouped(batches, number, device_of(training.model), has_criterion=has_criterion))


def _metrics(
    mode: OptimizationMode, setup: Setup, found: Result | Failure | None, seconds: float, accumulation_steps: int
) -> OptimizationMetrics:
    notes, in_force, device = list(setup.notes.lines()), setup.notes.in_force, device_of(setup.model)
    measured: dict[str, Any] = {}
    if isinstance(found, Failure):
        notes.append(f"what the mode wins was not measured: {found.reason}")
    elif found is not None:
        measured = {
            "speedup_factor": found.speedup.factor,
            "speedup_low": found.speedup.low,
            "speedup_high": found.speedup.high,
            "memory_savings": found.memory_savings,
            "memory_usage": found.memory,
            "agreement": found.agreement.verdict,
        }
    return OptimizationMetrics(
        mode=mode,
        execution_time=seconds,
        gpu_memory=torch.cuda.max_memory_allocated(device) / MIB if device.type == "cuda" else None,
        amp_enabled=OptimizationMode.AMP in in_force,
        compilation_enabled=OptimizationMode.COMPILATION in in_force,
        checkpointing_enabled=OptimizationMode.MEMORY_EFFICIENT in in_force,
        gradient_accumulation_steps=accumulation_steps,
        notes=tuple(notes),
        **measured,
    )


def _training_told(metrics: OptimizationMetrics, by_epoch: list[list[float]]) -> dict[str, Any]:
    fields = metrics.to_dict()
    if fields["speedup_factor"] is None:
        fields["speedup_factor"] = math.nan
    losses = [loss for epoch in by_epoch for loss in epoch]
    return {
        "mode": metrics.mode,
        "losses": losses,
        "epoch_losses": [sum(epoch) / len(epoch) for epoch in by_epoch if epoch],
        "num_steps": len(losses),
        "total_time": metrics.execution_time,
        "optimization_metrics": fields,
        "notes": list(metrics.notes),
    }
