"""This file is what memory a training step takes: parameters, gradients, what the optimizer keeps, activations."""

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any

import torch

from torchmagic.models.tree import size_of
from torchmagic.records.modelinfo import TrainingMemory

Settings = Mapping[str, Any]
_LBFGS_HISTORY = 100


def _factored(parameter: torch.Tensor, _settings: Settings) -> float:
    """Return the share of an optimizer that keeps a row and a column for a matrix."""
    if parameter.dim() < 2 or not parameter.numel():  # noqa: PLR2004 - a matrix
        return 1.0
    rows, columns = parameter.shape[:-1].numel(), parameter.shape[:-2].numel() * parameter.shape[-1]
    return (rows + columns) / parameter.numel()


# Tensors of the size of a parameter that an optimizer keeps for it, by its class, in small letters.
_STATE: dict[str, Callable[[torch.Tensor, Settings], float]] = {
    "sgd": lambda _, settings: 1.0 if settings.get("momentum") else 0.0,
    "adam": lambda _, settings: 3.0 if settings.get("amsgrad") else 2.0,
    "adamw": lambda _, settings: 3.0 if settings.get("amsgrad") else 2.0,
    "adamax": lambda *_: 2.0,
    "nadam": lambda *_: 2.0,
    "radam": lambda *_: 2.0,
    "sparseadam": lambda *_: 2.0,
    "adadelta": lambda *_: 2.0,
    "adagrad": lambda *_: 1.0,
    "rprop": lambda *_: 2.0,
    "asgd": lambda *_: 1.0,
    "rmsprop": lambda _, settings: 1.0 + bool(settings.get("momentum")) + bool(settings.get("centered")),
    "adafactor": _factored,
    "lion": lambda *_: 1.0,
    "muon": lambda *_: 1.0,
    "lbfgs": lambda _, settings: 2.0 * settings.get("history_size", _LBFGS_HISTORY),
}
# As people write them where only a name is given.
_NAMED: dict[str, tuple[str, Settings]] = {
    **{name: (name, {}) for name in _STATE},
    "sgd-momentum": ("sgd", {"momentum": 0.9}),
    "amsgrad": ("adam", {"amsgrad": True}),
}
OPTIMIZERS = tuple(_NAMED)
USUAL = ("adamw", "sgd-momentum", "sgd")


def training_memory(
    tensors: Iterable[torch.Tensor],
    optimizer: Any,
    *,
    buffers: int,
    batch: int = 0,
    activations: int | None = None,
) -> TrainingMemory:
    """Add up what one training step keeps in memory.

    Args:
        tensors: The model's parameters, each once.
        optimizer: Its name, such as ``adamw``, or an optimizer; one that has stepped is measured.
        buffers: Bytes of the model's buffers.
        batch: Bytes of the inputs.
        activations: Bytes that autograd keeps for the backward; None where no forward was run.

    Raises:
        ValueError: If no optimizer of this name is known; one line that names the nearest.
    """
    parameters = list(tensors)
    trainable = [each for each in parameters if each.requires_grad]
    name, state, measured = _state(trainable, optimizer)
    return TrainingMemory(
        optimizer=name,
        parameters=sum(size_of(each)[1] for each in parameters),
        gradients=sum(size_of(each)[1] for each in trainable),
        state=state,
        buffers=buffers,
        batch=batch,
        activations=activations,
        is_measured=measured,
    )


def _state(trainable: list[torch.Tensor], optimizer: Any) -> tuple[str, int, bool]:
    if isinstance(optimizer, str):
        word = optimizer.lower().replace("_", "-").replace(" ", "-")
        if word not in _NAMED:
            nearest = get_close_matches(word, _NAMED, n=1)
            hint = f"did you mean {nearest[0]}?" if nearest else f"known are {', '.join(_NAMED)}"
            raise ValueError(f"no optimizer {optimizer!r} is known; {hint}")
        kind, settings = _NAMED[word]
        return word, _estimated(trainable, kind, settings), False
    if not isinstance(optimizer, torch.optim.Optimizer):
        raise ValueError(  # noqa: TRY004 - one kind of error for a wrong optimizer
            f"an optimizer or the name of one was wanted, such as adamw, {type(optimizer).__name__} came"
        )
    name = type(optimizer).__name__
    if optimizer.state:
        held = [each for state in optimizer.state.values() for each in _tensors(state)]
        return name, sum(size_of(each)[1] for each in held), True
    if name.lower() not in _STATE:
        raise ValueError(f"what {name} keeps is not known before its first step; step it once, or name a kind")
    groups = ((group, [each for each in group["params"] if each.requires_grad]) for group in optimizer.param_groups)
    return name, sum(_estimated(parameters, name.lower(), group) for group, parameters in groups), False


def _estimated(parameters: Iterable[torch.Tensor], kind: str, settings: Settings) -> int:
    return round(sum(size_of(each)[1] * _STATE[kind](each, settings) for each in parameters if size_of(each)[0]))


def _tensors(state: Any) -> Iterable[torch.Tensor]:
    values = state.values() if isinstance(state, Mapping) else state if isinstance(state, list) else [state]
    for each in values:
        if isinstance(each, torch.Tensor):
            yield each
        elif isinstance(each, Mapping | list):
            yield from _tensors(each)
