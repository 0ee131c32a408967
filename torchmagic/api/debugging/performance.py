"""This file is what a debugger says of time: how long an operation took, and where the time of a model goes."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import torch
from torch import nn

from torchmagic.api.debugging.contexts import Contexts
from torchmagic.api.debugging.steps import called
from torchmagic.api.profile import profile
from torchmagic.models.streams import untouched_globals
from torchmagic.models.twin import Twin
from torchmagic.session.run import Run

# Batches before those that are profiled: one that is left alone, and one to warm up.
BEFORE = 2


def seconds_of(contexts: Contexts, operation: str, *, epoch: int = 0, batch: int = 0) -> float:
    """Return how long an operation took, and note whether that is far longer than usual.

    Args:
        contexts: The debugger's contexts.
        operation: Its name: that of a context that is open, of which the seconds so far are told, or else of the newest
            one that has ended.
        epoch: Number of the epoch.
        batch: Number of the batch.

    Raises:
        ValueError: If no operation has this name; one line.
    """
    info = contexts.opened(operation) or contexts.history.last(operation)
    if info is None:
        wanted = f"put it in `with debugger.debug_context({operation!r}):` first"
        raise ValueError(f"no operation {operation!r} was timed yet; {wanted}")
    seconds = info.execution_time
    is_slow = info.performance_issue_detected or contexts.history.is_slow(operation, seconds)
    info.performance_issue_detected = is_slow
    if is_slow:
        contexts.logger.warning("%s took %.3f s, far longer than usual", operation, seconds)
    elif contexts.config.log_performance:
        contexts.logger.debug("%s took %.4f s", operation, seconds)
    contexts.timed.append({"operation": operation, "execution_time": seconds, "epoch": epoch, "batch": batch})
    return seconds


def profile_performance(
    model: nn.Module,
    batches: Iterable[Any],
    *,
    num_batches: int,
    criterion: Callable[..., torch.Tensor] | None = None,
    optimizer: torch.optim.Optimizer | None = None,
    tensorboard: str | Path = "",
) -> Run:
    """Run a model under torch's profiler.

    With an optimizer the model is trained, as the user's loop would. Without one a copy is run that shares the model's
    memory: its buffers, its gradients and the random number streams stay as they are.

    Args:
        model: The model.
        batches: Batches: inputs, or pairs of inputs and targets; taken once more for two batches to warm up.
        num_batches: Batches that are profiled, 1 or more.
        criterion: Loss of output and target; None does not go back, and the model sees inputs only.
        optimizer: Makes a step after each batch; None makes none.
        tensorboard: Folder to write a trace to for TensorBoard; empty means none.

    Returns:
        The run; ``torchmagic.session.show(run)`` draws it.

    Raises:
        ValueError: If there is no batch, or ``num_batches`` is no number of batches, or an optimizer came without a
            criterion; one line.
    """
    if type(num_batches) is not int or num_batches < 1:
        raise ValueError(f"num_batches must be a whole number from 1 on, got {num_batches!r}")
    if optimizer is not None and criterion is None:
        raise ValueError("an optimizer came without a criterion; give criterion=, the loss that it is to make smaller")
    trains = optimizer is not None
    runner = model if trains else Twin(model).module
    steps = {"steps": num_batches, "wait": 1, "warmup": 1} if trains else {}
    with nullcontext() if trains else _untouched(batches):
        taken = itertools.islice(_batches(batches), num_batches + BEFORE)
        first = list(itertools.islice(taken, BEFORE))
        if not first:
            raise ValueError("the loader gives no batch; nothing can be profiled")
        before, profiled = ([], [*first]) if trains else (first, [])
        for batch in before:
            _run(runner, batch, criterion, optimizer)
        with profile(
            name="model_performance", memory=True, shapes=True, flops=True, tensorboard=str(tensorboard), **steps
        ) as run:
            for batch in itertools.chain(profiled, taken):
                _run(runner, batch, criterion, optimizer)
    return run


def _batches(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield batches again and again, so that a short loader is enough; what gives each item once ends."""
    while True:
        number = 0
        for number, batch in enumerate(batches, start=1):  # noqa: B007 - counted for the question whether it gives any
            yield batch
        if not number or iter(batches) is batches:
            return


def _run(model: nn.Module, batch: Any, criterion: Any, optimizer: torch.optim.Optimizer | None) -> None:
    inputs, targets = _parts(batch, has_targets=criterion is not None)
    device = next((each.device for each in model.parameters()), None)
    if optimizer is not None:
        optimizer.zero_grad()
    output = called(model, _moved(inputs, device))
    if criterion is not None:
        criterion(output, _moved(targets, device)).backward()
    if optimizer is not None:
        optimizer.step()


def _parts(batch: Any, *, has_targets: bool) -> tuple[Any, Any]:
    if isinstance(batch, list | tuple) and batch:
        return batch[0], batch[1] if len(batch) > 1 else None
    if has_targets:
        raise ValueError(f"with a criterion a batch is a pair of inputs and targets, {type(batch).__name__} came")
    return batch, None


def _moved(value: Any, device: torch.device | None) -> Any:
    if isinstance(value, torch.Tensor) and device is not None:
        return value.to(device)
    if isinstance(value, Mapping):
        return {name: _moved(each, device) for name, each in value.items()}
    return value


@contextmanager
def _untouched(batches: Iterable[Any]) -> Iterator[None]:
    """Put random number streams back: the global ones, and the generator of a loader that has one."""
    generator = getattr(batches, "generator", None)
    state = generator.get_state() if isinstance(generator, torch.Generator) else None
    with untouched_globals():
        yield
    if isinstance(generator, torch.Generator) and state is not None:
        generator.set_state(state)
