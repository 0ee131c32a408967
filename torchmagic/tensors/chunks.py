"""This file is the walk over a tensor's values in pieces of bounded size, as numbers that reductions can take."""

from collections.abc import Iterator

import torch

# A float64 copy is 512 KiB and stays in a core's second-level cache; measured fastest of 2**14 to 2**19.
CPU_CHUNK = 1 << 16
# An accelerator wants few, large launches: 2**24 float64 values are 128 MiB of work space.
DEVICE_CHUNK = 1 << 24
_WIDER = {
    torch.bool: torch.uint8,
    torch.uint16: torch.int32,
    torch.uint32: torch.int64,
    torch.uint64: torch.float64,
}


def numbers(values: torch.Tensor) -> Iterator[torch.Tensor]:
    """Walk all values in the order of the tensor's elements.

    Args:
        values: A dense tensor of any shape, dtype and strides, without gradient.

    Yields:
        1-d tensors of at most ``CPU_CHUNK`` (``DEVICE_CHUNK`` on CUDA) values: whole numbers as whole numbers,
        narrow floats as float32, complex numbers as magnitudes. A piece may share memory with ``values``: read only.

    Raises:
        RuntimeError: If torch cannot read this dtype (float4, packed whole numbers).
    """
    on_cuda = values.device.type == "cuda"
    for piece in pieces(values, DEVICE_CHUNK if on_cuda else CPU_CHUNK):
        # Only CPU and CUDA are sure to know float64 and every reduction used here.
        yield as_numbers(piece if on_cuda else piece.to("cpu"))


def as_numbers(piece: torch.Tensor) -> torch.Tensor:
    """The same values in a dtype that every reduction takes; magnitudes for complex numbers."""
    if piece.is_complex():
        return piece.to(torch.complex128).abs()
    if piece.is_floating_point() and piece.dtype not in (torch.float32, torch.float64):
        return piece.to(torch.float32)
    return piece.to(_WIDER.get(piece.dtype, piece.dtype))


def pieces(values: torch.Tensor, size: int) -> Iterator[torch.Tensor]:
    """Walk a dense tensor in the order of its elements, in 1-d tensors of at most so many; read only."""
    total = values.numel()
    if total <= size:
        yield values.reshape(-1)
    elif values.is_contiguous():
        yield from torch.split(values.view(-1), size)
    else:
        # A slice along the first dimension is a view, so that only one piece is copied at a time.
        rows = size // (total // values.shape[0])
        for part in torch.split(values, max(rows, 1)):
            yield from pieces(part if rows else part[0], size)
