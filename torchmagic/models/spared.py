"""This file is the guard of a model's memory: what an operator is about to write into is kept, and put back."""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from torchmagic.tensors.reduce import UNREADABLE_ERRORS

# Operators that write into arguments without saying so in their schema: the running statistics of batch norm.
_SILENT_WRITES = {"native_batch_norm": (3, 4), "cudnn_batch_norm": (3, 4), "miopen_batch_norm": (3, 4)}


class Spared:
    """Keeps the contents of protected memory before it is written into.

    Args:
        tensors: Tensors whose memory must be the same in the end.
    """

    def __init__(self, tensors: Iterable[torch.Tensor]) -> None:
        self._protected: dict[int, list[torch.Tensor]] = {}
        for tensor in tensors:
            key = storage_key(tensor)
            if key is not None:
                self._protected.setdefault(key, []).append(tensor)
        self._kept: dict[int, tuple[torch.UntypedStorage, list[int]]] = {}

    def before(self, operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Look at a call of an operator that is about to run."""
        positions, names = _writes(operator)
        if not positions and not names:
            return
        written = [args[position] for position in positions if position < len(args)]
        written += [kwargs[name] for name in names if name in kwargs]
        for tensor in tree_leaves(written):
            if isinstance(tensor, torch.Tensor):
                self._keep(tensor)

    def put_back(self) -> bool:
        """Write the contents back, version counters included; whether there was anything to write."""
        for key, (contents, versions) in self._kept.items():
            tensors = self._protected[key]
            tensors[0].untyped_storage().copy_(contents)
            for tensor, version in zip(tensors, versions, strict=True):
                _set_version(tensor, version)
        return bool(self._kept)

    def _keep(self, tensor: torch.Tensor) -> None:
        key = storage_key(tensor)
        if key is None or key not in self._protected or key in self._kept:
            return
        versions = [-1 if each.is_inference() else each._version for each in self._protected[key]]  # noqa: SLF001
        contents = tensor.untyped_storage().clone()  # type: ignore[no-untyped-call] # torch
        self._kept[key] = (contents, versions)


def storage_key(tensor: torch.Tensor) -> int | None:
    """Return what tells a tensor's memory from others while it lives; None for those without a storage."""
    try:
        return int(tensor.untyped_storage()._cdata)  # noqa: SLF001 - the storage's address is public under no name
    except UNREADABLE_ERRORS:
        return None


def storages_of(tensors: Iterable[torch.Tensor]) -> Iterator[int]:
    """Yield the keys of the memory of those tensors that have some."""
    for tensor in tensors:
        key = storage_key(tensor)
        if key is not None:
            yield key


@cache
def _writes(operator: Any) -> tuple[tuple[int, ...], tuple[str, ...]]:
    arguments = operator._schema.arguments  # noqa: SLF001 - torch's own tools read it there
    written = [
        (position, each.name)
        for position, each in enumerate(arguments)
        if each.alias_info is not None and each.alias_info.is_write
    ]
    silent = _SILENT_WRITES.get(operator._overloadpacket.__name__, ())  # noqa: SLF001
    return (*(position for position, _ in written), *silent), tuple(name for _, name in written)


def _set_version(tensor: torch.Tensor, version: int) -> None:
    if version < 0:
        return
    setter = torch._C._autograd._unsafe_set_version_counter  # noqa: SLF001 - what torch's checkpointing uses
    try:
        setter((tensor,), (version,))
    except TypeError:  # torch before 2.7 takes one tensor
        setter(tensor, version)  # type: ignore[arg-type] # as above
