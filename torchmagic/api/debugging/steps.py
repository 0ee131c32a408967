"""This file is the parts of a training step as a debugger makes them: forward, backward, optimizer step."""

import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves

from torchmagic.api.debugging.context_watch import How
from torchmagic.api.debugging.contexts import Contexts
from torchmagic.api.debugging.gradients import check_gradients, glance_at_gradients
from torchmagic.api.debugging.info import DebugInfo
from torchmagic.api.debugging.pace import checks_gradients
from torchmagic.probes.nonfinite import NonFiniteError
from torchmagic.tensors.finite import is_finite
from torchmagic.tensors.reduce import norms, total_norm, values_of

# So many sentences of one operation are kept: where a loss is NaN, each parameter has one.
_MOST_SENTENCES = 100


def called(model: nn.Module, inputs: Any) -> Any:
    """Call a model with a batch: a tuple is several arguments, a mapping is arguments by name."""
    if isinstance(inputs, Mapping):
        return model(**inputs)
    return model(*inputs) if type(inputs) is tuple else model(inputs)


def forward_pass(contexts: Contexts, model: nn.Module, inputs: Any, *, epoch: int = 0, batch: int = 0) -> Any:
    """Call a model, and look at what goes in and what comes out.

    Args:
        contexts: The debugger's contexts.
        model: The model.
        inputs: Its batch, as ``called`` takes it.
        epoch: Number of the epoch.
        batch: Number of the batch.

    Returns:
        What the model returns.

    Raises:
        NonFiniteError: If the debugger raises at anomalies and a value is not finite.
    """
    with contexts.open("forward_pass", type(model).__name__, epoch, batch, how=How.PACED) as info:
        _look(contexts, info, "input", inputs)
        output = called(model, inputs)
        _look(contexts, info, "output", output)
        return output


def backward_pass(contexts: Contexts, loss: torch.Tensor, model: nn.Module, *, epoch: int = 0, batch: int = 0) -> float:
    """Go back from a loss, and look at the gradients.

    Returns:
        L2 norm of all gradients together.

    Raises:
        NonFiniteError: If the debugger raises at anomalies and a value is not finite.
    """
    with contexts.open("backward_pass", type(model).__name__, epoch, batch, how=How.PACED) as info:
        _look(contexts, info, "loss", loss)
        loss.backward()  # type: ignore[no-untyped-call] # torch
        is_due = checks_gradients(contexts.config, contexts.number(info.operation))
        look = check_gradients if is_due else glance_at_gradients
        found = look(model, usual_norm=contexts.history.usual_norm)
        info.gradient_norm = float(found["gradient_norm"])
        note_gradients(contexts, info, found)
        return info.gradient_norm


def optimization_step(
    contexts: Contexts,
    optimizer: torch.optim.Optimizer,
    model: nn.Module,
    closure: Callable[[], Any] | None = None,
    *,
    epoch: int = 0,
    batch: int = 0,
) -> float:
    """Make an optimizer's step.

    Returns:
        L2 norm of all parameters together, after the step.

    Raises:
        NonFiniteError: If the debugger raises at anomalies and a value is not finite.
    """
    with contexts.open("optimization_step", type(model).__name__, epoch, batch, how=How.PACED) as info:
        if closure is None:
            optimizer.step()
        else:
            optimizer.step(closure)
        norm = total_norm(norms([each.detach() for each in model.parameters()]))
        if not norm < float("inf"):
            _broken(contexts, info, ["a parameter is NaN or Inf after the step"])
        return norm


def note_gradients(contexts: Contexts, info: DebugInfo, found: Mapping[str, Any]) -> None:
    """Put into an operation what was found of gradients, and tell it."""
    new = [each for each in found["gradient_anomalies"] if each not in info.gradient_anomalies]
    info.gradient_anomalies += new[:_MOST_SENTENCES]
    for each in new:
        contexts.logger.warning("%s: %s", info.operation, each)
    broken = [each for each in new if "NaN" in each or "Inf" in each]
    if broken:
        _raise_if_wanted(contexts, info, broken)


def _look(contexts: Contexts, info: DebugInfo, what: str, values: Any) -> None:
    if contexts.logger.isEnabledFor(logging.DEBUG):
        for each in _told(what, values):
            contexts.logger.debug("%s: %s", info.operation, each)
    _broken(contexts, info, list(_problems(what, values)))


def _told(what: str, values: Any) -> Iterator[str]:
    """Yield what each tensor is; the value of a single one is read, for which its device is waited for."""
    for leaf in tree_leaves(values):
        if isinstance(leaf, torch.Tensor) and not leaf.is_nested:
            value = f": {leaf.item():.6g}" if what == "loss" and leaf.numel() == 1 and not leaf.is_meta else ""
            kind = str(leaf.dtype).removeprefix("torch.")
            yield f"{what} of shape {tuple(leaf.shape)}, {kind} on {leaf.device}{value}"


def _problems(what: str, values: Any) -> Iterator[str]:
    """Yield what is not sound; minus infinity, which masks and logarithms of probabilities have, is."""
    for leaf in tree_leaves(values):
        if isinstance(leaf, torch.Tensor) and not is_finite(leaf) and (words := _kinds(leaf)):
            yield f"{what} of shape {tuple(leaf.shape)} has {words}"


def _kinds(tensor: torch.Tensor) -> str:
    values = values_of(tensor)
    values = values.abs() if values.is_complex() else values
    numbers = ((int(torch.isnan(values).sum()), "NaN"), (int(torch.isposinf(values).sum()), "Inf"))
    return " and ".join(f"{number:,} {word}" for number, word in numbers if number)


def _broken(contexts: Contexts, info: DebugInfo, problems: list[str]) -> None:
    if not problems:
        return
    info.anomaly_detected = True
    for each in problems:
        contexts.logger.warning("%s: %s", info.operation, each)
    _raise_if_wanted(contexts, info, problems)


def _raise_if_wanted(contexts: Contexts, info: DebugInfo, problems: list[str]) -> None:
    info.anomaly_detected = True
    if contexts.config.raises:
        raise NonFiniteError(f"{info.operation}: {'; '.join(problems)}")
