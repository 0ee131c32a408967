"""This file counts what is resident when an allocation fails: by category, and by the user's own names."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import psutil
import torch
from torch.nn.parameter import is_lazy
from torch.utils.data import DataLoader

from torchmagic.probes.cast import Cast
from torchmagic.probes.crash_frames import Entry, message_of, modules_in, names_in, users
from torchmagic.probes.graph_walk import saved, walk
from torchmagic.probes.module_parts import buffers_of, parameters_of
from torchmagic.probes.storages import Ledger, tensors_in
from torchmagic.probes.variables import variables
from torchmagic.records.crash import OutOfMemoryRecord, Resident

CATEGORIES = ("parameters", "gradients", "optimizer state", "activations", "data and other variables")
MOST_RESIDENTS, MOST_NODES = 8, 20_000
_UNITS = {"": 1, "B": 1, "BYTES": 1, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40, "PIB": 1 << 50,
          "EIB": 1 << 60, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}  # fmt: skip
_SIZE = r"([\d.]+) ?([KMGTPE]?i?B|bytes)"
_ASKED = re.compile(rf"(?:[Tt]ried to allocate|Unable to allocate) {_SIZE}")
_TOTAL = re.compile(rf"(?:total capacity of {_SIZE}|max allowed: {_SIZE})")
_FREE = re.compile(rf"of which {_SIZE} is free")
_CUDA = re.compile(r"GPU (\d+)")


def out_of_memory(
    error: BaseException, entries: list[Entry], cast: Cast, namespace: Mapping[str, Any]
) -> OutOfMemoryRecord:
    """Return what was asked for, what there is, and who keeps it."""
    message = message_of(error)
    device = _device(message, error)
    theirs = users(entries)
    ledger = Ledger(torch.device(device) if device != "mps" else None)
    model = cast.current
    module = model.ref() if model is not None else None
    counted = _owned(cast, ledger)
    residents, held, half = _variables(theirs, namespace, ledger)
    activations = sum(each.num_bytes for each in residents if each.what.startswith("graph"))
    row = (*counted, activations, held)
    loader, batch_size = _loader(theirs, namespace)
    return OutOfMemoryRecord(
        device=device,
        requested=_bytes(_ASKED, message),
        total=_bytes(_TOTAL, message) or (int(psutil.virtual_memory().total) if device == "cpu" else None),
        free=_bytes(_FREE, message) or (int(psutil.virtual_memory().available) if device == "cpu" else None),
        categories=dict(zip(CATEGORIES, row, strict=True)),
        residents=tuple(sorted(residents, key=lambda each: -each.num_bytes)[:MOST_RESIDENTS]),
        optimizer=_largest_optimizer(cast),
        model=model.name if model is not None else "",
        is_training=module is not None and module.training,
        grad_enabled=_recorded(entries, residents),
        loader=loader,
        batch_size=batch_size,
        half=half,
    )


def _device(message: str, error: BaseException) -> str:
    if "MPS backend" in message:
        return "mps"
    found = _CUDA.search(message)
    if found or "CUDA" in message or "OutOfMemoryError" in type(error).__name__:
        return f"cuda:{found[1]}" if found else "cuda:0"
    return "cpu"


def _bytes(pattern: re.Pattern[str], message: str) -> int | None:
    found = pattern.search(message)
    if found is None:
        return None
    number, unit = [group for group in found.groups() if group is not None][:2]
    return int(float(number) * _UNITS[unit.upper()]) if "." in number else int(number) * _UNITS[unit.upper()]


def _owned(cast: Cast, ledger: Ledger) -> tuple[int, int, int]:
    """Return the bytes of parameters and buffers, of gradients, and of the optimizers' states."""
    roots = [root for model in cast.models if (root := model.ref()) is not None]
    parameters: list[torch.Tensor] = [each for root in roots for each in parameters_of(root) if not is_lazy(each)]
    parameters += [value for entry in cast.optimizers for ref in entry.refs if (value := ref()) is not None]
    buffers = [each for root in roots for each in buffers_of(root) if not is_lazy(each)]
    weights = ledger.claim([*parameters, *buffers])
    gradients = ledger.claim(each.grad for each in parameters if each.is_leaf and each.grad is not None)
    states = sum(ledger.claim(_states(entry.ref())) for entry in cast.optimizers)
    return weights, gradients, states


def _states(optimizer: Any) -> Iterator[torch.Tensor]:
    for state in list(optimizer.state.values()) if optimizer is not None else ():
        yield from tensors_in(state)


def _largest_optimizer(cast: Cast) -> str:
    """Return the optimizer that keeps most, with its class; empty where none keeps anything."""
    sizes = {f"{each.name} ({each.class_name})": Ledger().claim(_states(each.ref())) for each in cast.optimizers}
    name = max(sizes, key=lambda each: sizes[each], default="")
    return name if sizes.get(name) else ""


def _variables(theirs: list[Entry], namespace: Mapping[str, Any], ledger: Ledger) -> tuple[list[Resident], int, bool]:
    """Return the names that keep memory: first their own tensors, then the graphs above these."""
    named: dict[str, list[torch.Tensor]] = {}
    known: set[int] = set()
    for names in (*(names_in(entry.frame) for entry in reversed(theirs)), namespace):
        for name, value in variables(names):
            if isinstance(value, torch.Tensor) and not is_lazy(value) and id(value) not in known:
                known.add(id(value))
                named.setdefault(name, []).append(value)
    residents, held = [], 0
    for name, tensors in named.items():
        size = ledger.claim(tensors)
        held += size
        if size:
            residents.append(Resident(name=name, what=_described(tensors), num_bytes=size))
    left, half = MOST_NODES, False
    for name, tensors in named.items():
        nodes = walk(tensors, most=left).nodes if left > 0 and any(each.grad_fn is not None for each in tensors) else []
        left -= len(nodes)
        kept = saved(nodes).tensors
        half = half or any(each.dtype in (torch.float16, torch.bfloat16) for each in kept)
        size = ledger.claim(kept)
        if size:
            many = len(tensors) > 1
            what = f"graphs of {len(tensors)} tensors" if many else "graph kept for the backward"
            residents.append(Resident(name=name, what=what, num_bytes=size))
    return residents, held, half


def _described(tensors: list[torch.Tensor]) -> str:
    first = tensors[0]
    shape = "×".join(str(int(size)) for size in first.shape) or "scalar"
    dtype = str(first.dtype).removeprefix("torch.")
    return f"{shape} {dtype}" if len(tensors) == 1 else f"{len(tensors)} tensors, the first {shape} {dtype}"


def _loader(theirs: list[Entry], namespace: Mapping[str, Any]) -> tuple[str, int | None]:
    """Return the loader that the user's frames name on the way to the crash, and its batch size."""
    found: dict[str, int | None] = {}
    for names in (*(names_in(entry.frame) for entry in theirs), namespace):
        for name, value in list(names.items()):
            if isinstance(value, DataLoader) and not name.startswith("_"):
                found.setdefault(name, value.batch_size)
    if len(found) == 1:
        return next(iter(found.items()))
    train = [name for name in found if "train" in name]
    return (train[0], found[train[0]]) if len(train) == 1 else ("", None)


def _recorded(entries: list[Entry], residents: list[Resident]) -> bool:
    """Whether the forward that failed recorded a graph for a backward."""
    if any(each.what.startswith("graph") for each in residents):
        return True
    for entry in reversed(entries):
        for value in list(names_in(entry.frame).values()):
            if isinstance(value, torch.Tensor) and value.grad_fn is not None:
                return True
    return any(module.training for module in modules_in(entries))
