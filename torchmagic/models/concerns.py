"""This file is what should be looked at in a model: values, odd kinds, memory that is shared, loose parts."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import torch
from torch import nn

from torchmagic.models.spared import storage_key
from torchmagic.models.tree import Tree, is_lazy, own_tensors, size_of
from torchmagic.records.modelinfo import Concern, Held, ModulePart
from torchmagic.tensors.reduce import UNREADABLE_ERRORS, is_measurable, norms, values_of

_MOST_NAMES = 50
_INDEX = re.compile(r"(?<=\.)\d+(?=\.)|^\d+(?=\.)")
_MATRIX = 2


def concerns_of(tree: Tree, parts: tuple[ModulePart, ...]) -> tuple[Concern, ...]:
    """Return what should be looked at, what is hardly ever meant first.

    Args:
        tree: The model, whose values are read in one pass.
        parts: What was seen of its modules.
    """
    found = [
        *_values(tree),
        *_separate_owners(tree),
        *_loose(tree),
        *_lazy(tree),
        *_odd_kinds(tree),
        *_unused(parts),
        *_mixed_modes(parts),
        *_shared(tree),
    ]
    return tuple(sorted(found, key=lambda each: not each.is_wrong))


def _concern(kind: str, names: list[str], text: str, *, is_wrong: bool = False) -> Concern:
    return Concern(kind=kind, names=tuple(names[:_MOST_NAMES]), text=text, is_wrong=is_wrong)


def nonfinite_of(tree: Tree) -> dict[str, str]:
    """Return how many values of a tensor are not finite, in words and by its name, for each one that has some."""
    return _nonfinite(tree, _norms(tree))


def _norms(tree: Tree) -> dict[str, float]:
    readable = {name: each for name, each in tree.tensors.items() if is_measurable(each) and each.numel()}
    return dict(zip(readable, norms(list(readable.values())), strict=True))


def _nonfinite(tree: Tree, found: dict[str, float]) -> dict[str, str]:
    bad = [name for name, norm in found.items() if not math.isfinite(norm)]
    counts = [(name, _num_bad(tree.tensors[name]), tree.tensors[name].numel()) for name in bad]
    return {name: f"{count:,} of {total:,} values are NaN or infinite" for name, count, total in counts if count}


def _values(tree: Tree) -> Iterator[Concern]:
    found = _norms(tree)
    for name, text in list(_nonfinite(tree, found).items())[:_MOST_NAMES]:
        yield _concern("non-finite", [name], text, is_wrong=True)
    zero = [name for name, norm in found.items() if norm == 0 and _matters_when_zero(tree, name)]
    if zero:
        yield _concern("all-zero", zero, "every value is zero: meant for some layers, a fault where others build on it")


def _num_bad(tensor: torch.Tensor) -> int:
    try:
        return int((~torch.isfinite(values_of(tensor))).sum())
    except UNREADABLE_ERRORS:
        return 0


def _matters_when_zero(tree: Tree, name: str) -> bool:
    """Biases, running means and caches usually begin at zero; weights and running variances do not."""
    tensor, last = tree.tensors[name], name.rpartition(".")[2]
    if tree.held[id(tensor)] is Held.BUFFER:
        return last == "running_var"
    return tensor.dim() >= _MATRIX or last == "weight"


def _separate_owners(tree: Tree) -> Iterator[Concern]:
    """Separate parameters over the same elements: an optimizer moves both. Windows into one block are apart."""
    owners: dict[int, list[str]] = defaultdict(list)
    for name, tensor in tree.tensors.items():
        key = None if is_lazy(tensor) or tensor.is_meta or not size_of(tensor)[0] else storage_key(tensor)
        if key is not None:
            owners[key].append(name)
    for names in owners.values():
        together = _overlapping(tree, names)
        if len(together) > 1:
            both = all(tree.held[id(tree.tensors[name])] is Held.PARAMETER for name in together)
            text = "different tensors over the same memory"
            text += ": a step of the optimizer changes it once for each" if both else ""
            yield _concern("shared-memory", together, text, is_wrong=both)


def _overlapping(tree: Tree, names: list[str]) -> list[str]:
    if len(names) == 1:
        return names
    spans = sorted((*_span(tree.tensors[name]), name) for name in names)
    found: list[str] = []
    for (_, end, name), (start, _, following) in pairwise(spans):
        if start < end:
            found += [each for each in (name, following) if each not in found]
    return found


def _span(tensor: torch.Tensor) -> tuple[int, int]:
    """Return the first byte and the byte after the last one."""
    try:
        start = tensor.data_ptr()
        last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    except UNREADABLE_ERRORS:
        return 0, 0
    return start, start + (last + 1) * tensor.element_size()


def _shared(tree: Tree) -> Iterator[Concern]:
    paths: dict[int, list[str]] = defaultdict(list)
    for path, module in tree.places:
        paths[id(module)].append(path)
    again = [names for names in paths.values() if len(names) > 1]
    below = tuple(f"{path}." for names in again for path in names)
    for names in again:
        if not all(path.startswith(below) for path in names):
            yield _concern("shared-module", names, "one module at several places: its weights are shared, counted once")
    for each in tree.names.values():
        if len(each) > 1 and not each[1].startswith(below):
            yield _concern("shared-tensor", each, "one tensor under several names (tied weights), counted once")


def _lazy(tree: Tree) -> Iterator[Concern]:
    names = [name for name, tensor in tree.tensors.items() if is_lazy(tensor)]
    if names:
        yield _concern("lazy", names, "no shape before the first input; left as they are")


def _odd_kinds(tree: Tree) -> Iterator[Concern]:
    by_device = Counter(str(each.device) for each in tree.tensors.values())
    if "meta" in by_device and len(by_device) > 1:
        names = [name for name, each in tree.tensors.items() if each.is_meta]
        yield _concern(
            "on-meta", names, "on the meta device, without values, beside others that have some", is_wrong=True
        )
    siblings: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    classes = {path: type(module).__name__ for path, module in tree.places}
    for name, tensor in tree.tensors.items():
        module = name.rpartition(".")[0]
        general = f"{_INDEX.sub('*', name)} {classes.get(module)}"
        dtype, device = str(tensor.dtype).removeprefix("torch."), str(tensor.device)
        if "*" in general:
            siblings[general, "dtype"][name] = dtype
            siblings[general, "device"][name] = device
        if tensor.is_floating_point() and tree.held[id(tensor)] is Held.PARAMETER:
            siblings[f"{module}:", "dtype"][name] = dtype
        siblings[f"{module}:", "device"][name] = device
    odd: dict[tuple[str, str], list[str]] = defaultdict(list)
    for (_, what), kinds in siblings.items():
        # Devices of a model that is split over several, or partly loaded, are told by the table of bytes.
        if what == "device" and (len(by_device) == 1 or "meta" in by_device):
            continue
        usual = Counter(kinds.values()).most_common(1)[0][0]
        for name in _minority(kinds):
            text = f"{what} {kinds[name]}, while siblings have {usual}"
            if name not in odd[what, text]:
                odd[what, text].append(name)
    for (what, text), names in odd.items():
        yield _concern(f"odd-{what}", names, text, is_wrong=True)


def _minority(kinds: dict[str, str]) -> list[str]:
    """Return the names of what differs from most; with no clear majority, of all that differ from the first."""
    counts = Counter(kinds.values())
    if len(counts) < 2:  # noqa: PLR2004 - all are of one kind
        return []
    usual = counts.most_common(1)[0][0]
    odd = [name for name, kind in kinds.items() if kind != usual]
    # Two halves on two devices are a model that was split on purpose.
    return odd if len(odd) * 3 <= len(kinds) or len(kinds) == 2 else []  # noqa: PLR2004


def _unused(parts: tuple[ModulePart, ...]) -> Iterator[Concern]:
    # A layer without weights, such as a dropout that a function stands in for, is told by a remark in the tree.
    unused = {part.path for part in parts if part.is_used is False and part.num_bytes}
    tops = [path for path in unused if not any(path.startswith(f"{above}.") for above in unused)]
    ordered = [part.path for part in parts if part.path in tops]
    if ordered:
        yield _concern("unused", ordered, "never used by this forward: neither called, nor was a weight of it read")


def _mixed_modes(parts: tuple[ModulePart, ...]) -> Iterator[Concern]:
    if not parts:
        return
    root = parts[0].training
    odd = [part.path for part in parts if part.training != root]
    tops = [path for path in odd if path.rpartition(".")[0] not in odd]
    if tops:
        here, there = ("training", "evaluation") if root else ("evaluation", "training")
        yield _concern("mixed-mode", tops, f"in {there} mode, while the model is in {here} mode")


def _loose(tree: Tree) -> Iterator[Concern]:
    """Modules and parameters in plain lists and dictionaries: no optimizer, device move or state_dict sees them."""
    registered = set(tree.first_path)
    for path, module in tree.places:
        if isinstance(module, torch.jit.ScriptModule):
            continue
        for name, value in vars(module).items():
            if name.startswith("_") or not isinstance(value, list | tuple | dict):
                continue
            if any(_is_loose(each, registered, tree) for each in _members(value)):
                full = f"{path}.{name}" if path else name
                text = "holds modules or parameters that are not registered: no optimizer and no state_dict sees them"
                yield _concern("unregistered", [full], text, is_wrong=True)


def _members(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else list(value)


def _is_loose(value: Any, registered: set[int], tree: Tree) -> bool:
    if isinstance(value, nn.Parameter):
        return id(value) not in tree.names
    return isinstance(value, nn.Module) and id(value) not in registered and any(own_tensors(value))
