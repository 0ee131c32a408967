"""This file is how a model is called with what a user gave: input sizes, a tensor, a batch or a loader."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_map
from torch.utils.data import DataLoader

from torchmagic.models.loader_batch import first_batch

_SEED = 0
# An input for a layer that looks numbers up must be a number that it has.
_LOOKS_UP = (nn.Embedding, nn.EmbeddingBag)
_LIKELY: tuple[tuple[Any, Callable[[Any], str]], ...] = (
    (nn.Conv1d, lambda layer: f"1,{layer.in_channels},128"),
    (nn.Conv2d, lambda layer: f"1,{layer.in_channels},64,64"),
    (nn.Conv3d, lambda layer: f"1,{layer.in_channels},16,64,64"),
    (nn.Linear, lambda layer: f"1,{layer.in_features}"),
    (nn.RNNBase, lambda layer: f"1,16,{layer.input_size}"),
    (_LOOKS_UP, lambda _: "1,16"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """How to call a model: arguments, and how that is told."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    words: str = "model(...)"

    def fresh(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments with copies of their tensors, for a model that writes into them."""
        args, kwargs = tree_map(_copy, (self.args, self.kwargs))
        return args, kwargs


def sized_call(model: nn.Module, input_size: Any, *, dtypes: Sequence[torch.dtype] | None = None) -> Call:
    """Make inputs of given sizes: random numbers of a stream of their own, on the device of the model.

    Args:
        model: The model.
        input_size: One size such as ``(1, 3, 32, 32)``, a sequence of sizes, or sizes by argument name.
        dtypes: One a size; otherwise that of the first parameter, or whole numbers where an embedding comes first.

    Raises:
        ValueError: If it is no size; one line.
    """
    by_name = isinstance(input_size, Mapping)
    sizes = list(input_size.values()) if by_name else _sizes(input_size)
    kinds = _dtypes(dtypes) if dtypes is not None else [None] * len(sizes)
    if len(kinds) != len(sizes):
        raise ValueError(f"{len(sizes)} input sizes and {len(kinds)} dtypes came; give one dtype for each size")
    made = [_made_here(model, _checked(size), dtype) for size, dtype in zip(sizes, kinds, strict=True)]
    told = [f"{_kind(each)} {list(each.shape)}" for each in made]
    if by_name:
        named = dict(zip(input_size, made, strict=True))
        words = ", ".join(f"{name}={text}" for name, text in zip(named, told, strict=True))
        return Call(args=(), kwargs=named, words=f"model({words})")
    return Call(args=tuple(made), words=f"model({', '.join(told)})")


def batch_call(model: nn.Module, batch: Any) -> Call:
    """Call a model with a batch as a training loop would.

    A loader gives one batch. A dictionary is taken apart by the names that forward takes, a tuple or list by position;
    of a loader's (inputs, targets) only the arguments that forward must have are used.

    Raises:
        ValueError: If there is no batch in it; one line.
    """
    came_from = "batch"
    if isinstance(batch, DataLoader):
        batch, came_from = first_batch(batch), "next(iter(loader))"
    elif hasattr(batch, "__next__"):
        raise ValueError("an iterator gives each batch once; pass the batch itself, or the loader")
    if isinstance(batch, Mapping):
        batch = dict(batch)
    batch = _on_device(batch, _device(model))
    if isinstance(batch, Mapping):
        return _by_name(model, batch, came_from)
    if isinstance(batch, list | tuple) and not hasattr(batch, "batch_sizes"):
        return _by_position(model, batch, came_from)
    return Call(args=(batch,), words=f"model({came_from})")


def likely_input(model: nn.Module) -> str:
    """Return an input size that the first layer would take, as text; empty where it cannot be told."""
    for module in model.modules():
        for kind, size in _LIKELY:
            if isinstance(module, kind):
                text = size(module)
                return "" if ",0" in text else text  # a lazy layer takes what it is given
    return ""


def _sizes(value: Any) -> list[Any]:
    if isinstance(value, int):
        return [(value,)]
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise ValueError(  # noqa: TRY004 - one kind of error for a wrong size
            f"an input size was wanted, such as (1, 3, 32, 32), {value!r} came"
        )
    return list(value) if any(isinstance(each, Sequence) for each in value) else [tuple(value)]


def _dtypes(value: Any) -> list[torch.dtype]:
    given = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else None
    if given is None or not all(isinstance(each, torch.dtype) for each in given):
        raise ValueError(f"dtypes are one of torch's for each size, such as (torch.float32,), {value!r} came")
    return given


def _checked(size: Any) -> tuple[int, ...]:
    if not isinstance(size, Sequence) or isinstance(size, str) or not all(isinstance(each, int) for each in size):
        raise ValueError(f"an input size was wanted, such as (1, 3, 32, 32), {size!r} came")
    if any(each < 0 for each in size):
        raise ValueError(f"an input size has no negative numbers, {tuple(size)} came; write the batch size out")
    return tuple(size)


def _made_here(model: nn.Module, size: tuple[int, ...], dtype: torch.dtype | None) -> torch.Tensor:
    try:
        return _made(model, size, dtype)
    except RuntimeError as error:  # memory does not suffice, or is not even counted so far
        reason = str(error).partition("\n")[0]
        raise ValueError(f"an input of size {size} cannot be made here ({reason}); give a smaller one") from None


def _made(model: nn.Module, size: tuple[int, ...], dtype: torch.dtype | None) -> torch.Tensor:
    floats = [each for each in (*model.parameters(), *model.buffers()) if each.is_floating_point() or each.is_complex()]
    first = next((each for each in model.modules() if not each._modules), model)  # noqa: SLF001 - the first leaf
    kind = dtype or (torch.int64 if isinstance(first, _LOOKS_UP) else floats[0].dtype if floats else torch.float32)
    device = _device(model)
    if device.type == "meta":
        return torch.empty(size, dtype=kind, device=device)
    stream = torch.Generator().manual_seed(_SEED)
    if kind.is_floating_point or kind.is_complex:
        return torch.rand(size, generator=stream).to(device=device, dtype=kind)
    high = min((each.num_embeddings for each in model.modules() if isinstance(each, _LOOKS_UP)), default=2)
    return torch.randint(0, max(high, 1), size, generator=stream).to(device=device, dtype=kind)


def _device(model: nn.Module) -> torch.device:
    held = [*model.parameters(), *model.buffers()]
    return held[0].device if held else torch.device("cpu")


def _kind(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _on_device(batch: Any, device: torch.device) -> Any:
    return tree_map(lambda each: each.to(device) if isinstance(each, torch.Tensor) else each, batch)


def _copy(value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    return value.detach().clone().requires_grad_(value.requires_grad)


def _by_name(model: nn.Module, batch: Mapping[str, Any], came_from: str) -> Call:
    names, takes_all = _names(model)
    fitting = {name: each for name, each in batch.items() if takes_all or name in names}
    if not fitting:
        return Call(args=(batch,), words=f"model({came_from})")
    words = f"**{came_from}" if len(fitting) == len(batch) else ", ".join(f"{name}=…" for name in fitting)
    return Call(args=(), kwargs=fitting, words=f"model({words})")


def _by_position(model: nn.Module, batch: Sequence[Any], came_from: str) -> Call:
    needed, most = _positions(model)
    count = len(batch)
    if most is not None and (count > most or came_from != "batch"):
        count = min(count, max(needed, 1))
    args = tuple(batch[:count])
    words = f"*{came_from}" if count == len(batch) else ", ".join(f"{came_from}[{index}]" for index in range(count))
    return Call(args=args, words=f"model({words})")


def _arguments(model: nn.Module) -> Iterator[inspect.Parameter]:
    try:
        yield from inspect.signature(model.forward).parameters.values()
    except (TypeError, ValueError):  # a forward of C++ or TorchScript has no signature that Python knows
        yield inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL)


def _names(model: nn.Module) -> tuple[set[str], bool]:
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    arguments = list(_arguments(model))
    takes_all = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in arguments)
    return {each.name for each in arguments if each.kind in named}, takes_all


def _positions(model: nn.Module) -> tuple[int, int | None]:
    """Return how many positional arguments forward must have, and how many it can take; None for any number."""
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    arguments = list(_arguments(model))
    placed = [each for each in arguments if each.kind in by_place]
    needed = sum(each.default is inspect.Parameter.empty for each in placed)
    if any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in arguments):
        return needed, None
    return needed, len(placed)
