"""This file is what a tensor is apart from its values: shape, place in memory, and its part in autograd."""

from collections.abc import Callable
from typing import TypeVar

import torch

from torchmagic.records.tensor import TensorRecord
from torchmagic.tensors.sources import refuse_unmade

T = TypeVar("T")
# Shown for a dimension without one size.
RAGGED = -1


def metadata(tensor: torch.Tensor, *, name: str = "", kind: str = "") -> TensorRecord:
    """Plain facts about a tensor, read without touching its values.

    Args:
        tensor: Any tensor.
        name: What the user calls it.
        kind: Name of its class; empty takes the tensor's own.

    Returns:
        A record without statistics, values and gradient.

    Raises:
        ValueError: If it is a lazy module's, and was not made yet; one line.
    """
    refuse_unmade(tensor)
    return TensorRecord(
        name=name,
        kind=kind or type(tensor).__name__,
        shape=tuple(_size(tensor, dimension) for dimension in range(tensor.dim())),
        dtype=str(tensor.dtype).removeprefix("torch."),
        device=str(tensor.device),
        layout=str(tensor.layout).removeprefix("torch."),
        strides=_strides(tensor),
        contiguous=_asked(tensor.is_contiguous, default=False),
        memory_format=_memory_format(tensor),
        requires_grad=tensor.requires_grad,
        is_leaf=tensor.is_leaf,
        grad_fn=_asked(lambda: type(tensor.grad_fn).__name__ if tensor.grad_fn is not None else "", default=""),
        version=_asked(lambda: tensor._version, default=None),  # noqa: SLF001 - torch has no public name for it
        num_elements=int(tensor.numel()),
        num_bytes=_num_bytes(tensor),
        storage_bytes=_asked(lambda: tensor.untyped_storage().nbytes(), default=None),
        storage_offset=_asked(lambda: int(tensor.storage_offset()), default=0),
        is_view=tensor._is_view(),  # noqa: SLF001 - nor for this
        is_pinned=tensor.device.type == "cpu" and _asked(tensor.is_pinned, default=False),
    )


def memory_block(tensor: torch.Tensor) -> tuple[str, int] | None:
    """Return what tells the memory block that a tensor lies in from others; None where it has none, or an empty one."""
    if tensor.device.type == "meta" or type(tensor).__name__ == "FakeTensor" or torch.nn.parameter.is_lazy(tensor):
        return None
    try:
        storage = (tensor.detach().values() if tensor.is_nested else tensor).untyped_storage()
        return (str(tensor.device), storage.data_ptr()) if storage.nbytes() else None
    except RuntimeError:
        return None


def _asked(question: Callable[[], T], *, default: T) -> T:
    """What torch answers, or the default where this kind of tensor has no answer (NotImplementedError is one)."""
    try:
        return question()
    except (RuntimeError, ValueError):
        return default


def _size(tensor: torch.Tensor, dimension: int) -> int:
    try:
        size: int | torch.SymInt = tensor.size(dimension)
    except RuntimeError:
        return RAGGED
    # A jagged dimension answers with a symbol.
    return size if isinstance(size, int) else RAGGED


def _strides(tensor: torch.Tensor) -> tuple[int, ...]:
    if tensor.layout != torch.strided:
        return ()
    return _asked(lambda: tuple(tensor.stride()), default=())


def _memory_format(tensor: torch.Tensor) -> str:
    if tensor.layout != torch.strided or tensor.is_nested:
        return ""
    if tensor.is_contiguous():
        return "contiguous"
    for format_, dimensions in ((torch.channels_last, 4), (torch.channels_last_3d, 5)):
        if tensor.dim() == dimensions and tensor.is_contiguous(memory_format=format_):
            return str(format_).removeprefix("torch.")
    return "non-contiguous"


def _num_bytes(tensor: torch.Tensor) -> int:
    size = tensor.element_size()
    if tensor.layout == torch.sparse_coo:
        indices = tensor._indices()  # noqa: SLF001 - indices() refuses uncoalesced tensors
        return tensor._values().numel() * size + indices.numel() * indices.element_size()  # noqa: SLF001
    if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        return _compressed_bytes(tensor.values(), tensor.crow_indices(), tensor.col_indices())
    if tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
        return _compressed_bytes(tensor.values(), tensor.ccol_indices(), tensor.row_indices())
    return int(tensor.numel()) * size


def _compressed_bytes(*parts: torch.Tensor) -> int:
    return sum(part.numel() * part.element_size() for part in parts)
