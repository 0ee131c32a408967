"""This file counts bytes: those of the storages under tensors, each storage once."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from torchmagic.probes.variables import held_in
from torchmagic.tensors.genuine import is_genuine
from torchmagic.tensors.presence import PLAIN, has_numbers

# Items of batches, states and outputs that are searched for tensors in all.
MOST_ITEMS = 1024


class Block(NamedTuple):
    """Bytes that a storage occupies: where, and how many."""

    device: torch.device
    address: int
    size: int


class Ledger:
    """Counts the bytes of storages on one device, each under the first that claims it.

    Args:
        device: The device; None counts every device.
    """

    def __init__(self, device: torch.device | None = None) -> None:
        self._device = device
        self._known: set[int] = set()  # addresses; those of two devices differ

    def claim(self, tensors: Iterable[torch.Tensor]) -> int:
        """Return the bytes under the tensors that nothing has claimed before."""
        total = 0
        for tensor in tensors:
            for storage, address in _parts(tensor):
                if address not in self._known and (self._device is None or storage.device == self._device):
                    self._known.add(address)
                    total += storage.nbytes()
        return total

    def claim_blocks(self, blocks: Iterable[Block]) -> int:
        """Return the bytes of the blocks that nothing has claimed before."""
        total = 0
        for device, address, size in blocks:
            if address not in self._known and (self._device is None or device == self._device):
                self._known.add(address)
                total += size
        return total


class BlockRefs:
    """Remembers the blocks under tensors without keeping their bytes alive."""

    def __init__(self) -> None:
        self._refs: dict[Block, StorageWeakRef] = {}

    def add(self, tensors: Iterable[torch.Tensor]) -> None:
        """Remember the blocks under some tensors."""
        for tensor in tensors:
            for storage, address in _parts(tensor):
                block = Block(storage.device, address, storage.nbytes())
                self._refs[block] = StorageWeakRef(storage)  # type: ignore[no-untyped-call] # torch

    def alive(self) -> list[Block]:
        """Return the blocks that somebody still holds."""
        return [block for block, ref in self._refs.items() if not ref.expired()]  # type: ignore[no-untyped-call] # torch

    def clear(self) -> None:
        """Forget all."""
        self._refs.clear()


def blocks_of(tensor: torch.Tensor) -> Iterator[Block]:
    """Yield the blocks under a tensor; nothing for a tensor that has no bytes or does not tell."""
    return (Block(storage.device, address, storage.nbytes()) for storage, address in _parts(tensor))


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """Yield the tensors in a tensor, or in lists, tuples and dicts of them, in order."""
    todo = [value]
    for _ in range(MOST_ITEMS):
        if not todo:
            return
        item = todo.pop()
        if issubclass(type(item), torch.Tensor):
            yield item
        elif is_genuine(item) and isinstance(item, (list, tuple, dict)):
            todo += reversed(held_in(item, slice(MOST_ITEMS)))


def _parts(tensor: torch.Tensor) -> list[tuple[torch.UntypedStorage, int]]:
    """Return the storages under a tensor that have bytes, each with its address."""
    if type(tensor) not in PLAIN and not has_numbers(tensor):
        return []
    found = []
    try:
        plain = type(tensor) in PLAIN and tensor.layout is torch.strided
        for each in (tensor,) if plain else _strided(tensor):
            storage = each.untyped_storage()
            address = storage.data_ptr()  # none for meta tensors
            if address:
                found.append((storage, address))
    except (RuntimeError, NotImplementedError, ValueError, TypeError, AttributeError):
        return []  # a lazy parameter, a fake tensor or an opaque layout: nothing to count, or no way to
    return found


def _strided(tensor: torch.Tensor) -> list[torch.Tensor]:
    """Return the plain tensors that a tensor is made of."""
    if is_traceable_wrapper_subclass(tensor):
        names, _ = tensor.__tensor_flatten__()
        return [part for name in names for part in _strided(getattr(tensor, name))]
    if tensor.layout is torch.sparse_coo:
        return [tensor._indices(), tensor._values()]
    if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        return [tensor.crow_indices(), tensor.col_indices(), tensor.values()]
    if tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
        return [tensor.ccol_indices(), tensor.row_indices(), tensor.values()]
    return [tensor]
