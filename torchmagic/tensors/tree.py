"""This file is the tree of tensors in one object: containers, batches, state dicts, optimizers, scalers."""

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch

from torchmagic.records.tensor import TensorRecord
from torchmagic.records.tensor_tree import Leaf, TensorTree
from torchmagic.tensors.genuine import is_tensor
from torchmagic.tensors.joining import joined
from torchmagic.tensors.layout import memory_block, metadata
from torchmagic.tensors.near import brought_near
from torchmagic.tensors.reduce import UNREADABLE_ERRORS
from torchmagic.tensors.scan import scanned
from torchmagic.tensors.sources import as_tensor, stored_values

# A tree of more is cut; totals are of all. Beyond so many elements all together values are no longer read.
MOST_LEAVES, MOST_MEASURED, DEEPEST = 400, 1 << 28, 12
# Numbers and texts beside the tensors.
MOST_FACTS, LONGEST = 24, 60
_PLAIN = (bool, int, float, complex, str, type(None))
_LISTED = ("params", "param_names")
_SCALER = ("scale", "growth factor", "backoff factor", "growth interval")

Found = tuple[str, Any]


def describe_tree(value: Any, *, name: str = "", names: Mapping[str, Any] | None = None) -> TensorTree | None:
    """Describe the tensors in an object; None for what is no container, or one without a tensor.

    Args:
        value: A list, tuple, mapping, dataclass, optimizer or gradient scaler.
        name: What the user calls it.
        names: Variables, among them the models whose parameters an optimizer has.
    """
    if not is_tree(value):
        return None
    if isinstance(value, torch.optim.Optimizer):
        found = list(_optimizer_items(value, names or {}))
    else:
        found = list(_found(value, "", 0, set()))
    facts = _facts(value)
    tensors = [(path, each) for path, each in found if not isinstance(each, _PLAIN)]
    if not tensors and not _is_scaler(value):
        return None
    facts += [(path, _short(each)) for path, each in found if isinstance(each, _PLAIN)][:MOST_FACTS]
    # A subclass may give the operators a meaning of its own, or raise; it is asked in torch's.
    with torch._C.DisableTorchFunctionSubclass():  # noqa: SLF001 - documented under this name
        return _tree(tensors, name, type(value).__name__, tuple(facts))


def is_tree(value: Any) -> bool:
    """Whether an object is of a kind that holds tensors."""
    if isinstance(value, (list, tuple, set, frozenset, Mapping, torch.optim.Optimizer)) or _is_scaler(value):
        return True
    if isinstance(value, torch.nn.Module | type | np.ndarray | np.generic) or is_tensor(value):
        return False
    return dataclasses.is_dataclass(value) or _mapping(value) is not None


def _mapping(value: Any) -> Mapping[Any, Any] | None:
    """Return a mapping, or the one that an object keeps as its ``data``, as a tokenizer's batch does."""
    if isinstance(value, Mapping):
        return value
    try:
        data = getattr(value, "data", None)
    except Exception:  # noqa: BLE001 - the code of whoever made it
        return None
    return data if isinstance(data, Mapping) else None


def _is_scaler(value: Any) -> bool:
    return isinstance(value, torch.amp.GradScaler)


def _facts(value: Any) -> list[tuple[str, str]]:
    if isinstance(value, torch.optim.Optimizer):
        return [
            (f"group {i}", ", ".join(f"{key} {_short(each)}" for key, each in group.items() if key not in _LISTED))
            for i, group in enumerate(value.param_groups)
        ]
    if _is_scaler(value):
        if not value.is_enabled():
            return [("enabled", "no: scale() and step() hand everything on as it is")]
        numbers = (
            value.get_scale(),
            value.get_growth_factor(),
            value.get_backoff_factor(),
            value.get_growth_interval(),
        )
        return [("enabled", "yes"), *((key, f"{each:g}") for key, each in zip(_SCALER, numbers, strict=True))]
    return []


def _found(value: Any, path: str, depth: int, seen: set[int]) -> Iterator[Found]:
    """Walk an object; yield tensors, arrays and plain values with their paths, each container once."""
    if isinstance(value, (torch.Tensor, np.ndarray)) or (isinstance(value, _PLAIN) and path):
        yield path, value
        return
    if depth > DEEPEST or id(value) in seen:
        return
    seen.add(id(value))
    for key, each in _items(value):
        yield from _found(each, f"{path}{key}", depth + 1, seen)


def _items(value: Any) -> Iterator[Found]:
    if isinstance(value, torch.optim.Optimizer):
        yield from _optimizer_items(value, {})
    elif _is_scaler(value):
        state = {key: getattr(value, key, None) for key in ("_scale", "_growth_tracker")}
        yield from ((key, each) for key, each in state.items() if isinstance(each, torch.Tensor))
    elif (mapping := _mapping(value)) is not None:
        yield from ((f"[{key!r}]", each) for key, each in list(mapping.items()))
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        yield from ((f".{key}", each) for key, each in zip(value._fields, value, strict=True))
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from ((f"[{i}]", each) for i, each in enumerate(value))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from ((f".{each.name}", getattr(value, each.name, None)) for each in dataclasses.fields(value))


def _optimizer_items(optimizer: torch.optim.Optimizer, names: Mapping[str, Any]) -> Iterator[Found]:
    called = _parameter_names(names)
    for i, group in enumerate(optimizer.param_groups):
        own = group.get("param_names") or ()
        for j, parameter in enumerate(group["params"]):
            known = own[j] if j < len(own) else called.get(id(parameter))
            place = f"group {i}, {known or f'parameter {j}'}"
            yield place, parameter
            if isinstance(parameter.grad, torch.Tensor):
                yield f"{place}: gradient", parameter.grad
            # .get: asking a defaultdict would add an entry.
            for key, each in (optimizer.state.get(parameter) or {}).items():
                if isinstance(each, torch.Tensor):
                    yield f"{place}: {key}", each


def _parameter_names(names: Mapping[str, Any]) -> dict[int, str]:
    """Return what each parameter of the models among some variables is called, by its identity."""
    called: dict[int, str] = {}
    for variable, value in list(names.items()):
        if isinstance(value, torch.nn.Module) and not variable.startswith("_"):
            for name, parameter in value.named_parameters():
                called.setdefault(id(parameter), f"{variable}.{name}")
    return called


def _tree(found: list[Found], name: str, kind: str, told: tuple[tuple[str, str], ...]) -> TensorTree:
    leaves: list[Leaf] = []
    blocks: dict[tuple[str, int], int] = {}
    by_dtype: dict[str, int] = {}
    seen: set[int] = set()
    num_elements = num_bytes = measured = 0
    kept, notes = _kept(found)
    for path, value, tensor in kept:
        facts = metadata(tensor)
        leaf = _leaf(path, facts, type(value).__name__)
        if len(leaves) < MOST_LEAVES:
            measured += tensor.numel()
            leaves.append(_measured(leaf, tensor) if measured <= MOST_MEASURED else leaf)
        if id(value) in seen:
            continue
        seen.add(id(value))
        num_elements, num_bytes = num_elements + int(tensor.numel()), num_bytes + leaf.num_bytes
        by_dtype[leaf.dtype] = by_dtype.get(leaf.dtype, 0) + leaf.num_bytes
        if facts.storage_bytes is None:  # a sparse one, say, which lies in several
            blocks["", id(value)] = leaf.num_bytes
        elif (block := memory_block(tensor)) is not None:
            blocks[block] = facts.storage_bytes
    if unlisted := len(kept) - len(leaves):
        notes.append(f"{_number(unlisted, 'more tensor')} not listed; the totals are of all")
    if any(not leaf.is_measured for leaf in leaves):
        notes.append("values are not read where there are none to read, and beyond 268 million in one object")
    return TensorTree(
        name=name,
        kind=kind,
        facts=told,
        leaves=tuple(leaves),
        num_tensors=len(seen),
        num_elements=num_elements,
        num_bytes=num_bytes,
        storage_bytes=sum(blocks.values()),
        bytes_by_dtype=tuple(sorted(by_dtype.items(), key=lambda pair: -pair[1])),
        num_nonfinite=sum(leaf.num_nonfinite for leaf in leaves),
        notes=tuple(notes),
    )


def _kept(found: list[Found]) -> tuple[list[tuple[str, Any, torch.Tensor]], list[str]]:
    """Return what has a shape as tensors, and notes on what is left out."""
    kept, unmade, foreign = [], 0, 0
    for path, value in found:
        try:
            tensor, _ = as_tensor(value)
        except TypeError:
            foreign += 1
            continue
        if torch.nn.parameter.is_lazy(tensor):
            unmade += 1
        else:
            kept.append((path, value, tensor))
    notes = [f"{_number(unmade, 'tensor')} left out: made by the first call of a lazy module"] if unmade else []
    notes += [f"{_number(foreign, 'array')} left out: of dtypes that torch does not have"] if foreign else []
    return kept, notes


def _number(number: int, noun: str) -> str:
    return f"{number:,} {noun} is" if number == 1 else f"{number:,} {noun}s are"


def _leaf(path: str, facts: TensorRecord, kind: str) -> Leaf:
    return Leaf(
        path=path,
        kind=kind,
        shape=facts.shape,
        dtype=facts.dtype,
        device=facts.device,
        num_bytes=facts.num_bytes,
    )


def _measured(leaf: Leaf, tensor: torch.Tensor) -> Leaf:
    try:
        values = stored_values(tensor).values
        if values is None:
            return leaf
        found = scanned(brought_near(values))
    except UNREADABLE_ERRORS:
        return leaf
    bad = found.num_nan + found.num_posinf + found.num_neginf
    if not found.parts:
        return dataclasses.replace(leaf, is_measured=True, num_nonfinite=bad)
    whole = joined(found.parts)
    return dataclasses.replace(
        leaf, is_measured=True, min=whole.low, max=whole.high, mean=whole.mean, num_nonfinite=bad
    )


def _short(value: Any) -> str:
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
