"""This file is a walk over a tensor's values on all cores, a stretch for each, in pieces of bounded size."""

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import torch
from numpy.typing import NDArray

from torchmagic.tensors.chunks import DEVICE_CHUNK, pieces

T = TypeVar("T")
Flat = TypeVar("Flat", torch.Tensor, NDArray[Any])
# Several operators read each piece; as float64 it is 1 MiB and stays in a core's cache (fastest of 2**14 to 2**18).
CPU_PIECE = 1 << 17
# Threads hand over Python's lock between two operators of NumPy, which costs more than a cache that is missed (fastest
# of 2**13 to 2**21 on two cores).
LONG_PIECE = 1 << 18
# Below this one core is done sooner than two that wait for each other.
LEAST_SHARED = 1 << 23

# (first element, values) of each piece, in the order of the elements.
Walk = Iterator[tuple[int, torch.Tensor]]


def on_all_cores(values: torch.Tensor, work: Callable[[Walk], T]) -> list[T]:
    """Return what ``work`` makes of each stretch of a tensor, in order.

    Args:
        values: A dense tensor of any shape, dtype, device and strides, without gradient.
        work: Takes the pieces of a stretch; runs in a thread of its own where there are several stretches.
    """
    if values.device.type != "cpu" or not values.is_contiguous():
        return [work(walk(values))]
    return on_ranges(values.view(-1), lambda flat, begin: work(_counted(flat, begin)))


def on_ranges(flat: Flat, work: Callable[[Flat, int], T], *, least: int = 0) -> list[T]:
    """Return what ``work`` makes of each stretch of a 1-d tensor or array and the number of its first element.

    Args:
        flat: The values.
        work: Runs in a thread of its own where there are several stretches.
        least: From so many values on they are shared; ``LEAST_SHARED`` if 0, which suits work that needs Python's lock.
    """
    total = len(flat)
    workers = torch.get_num_threads() if total >= (least or LEAST_SHARED) else 1
    length = max(1, math.ceil(total / workers / CPU_PIECE)) * CPU_PIECE
    if total <= length:
        return [work(flat, 0)]

    def part(begin: int) -> T:
        return work(flat[begin : begin + length], begin)

    with ThreadPoolExecutor(workers, thread_name_prefix="tensorinfo") as pool:
        return list(pool.map(part, range(0, total, length)))


def walk(values: torch.Tensor) -> Walk:
    """Yield all values of a dense tensor in 1-d pieces of bounded size; read only."""
    begin = 0
    for piece in pieces(values, CPU_PIECE if values.device.type == "cpu" else DEVICE_CHUNK):
        yield begin, piece
        begin += piece.numel()


def _counted(flat: torch.Tensor, begin: int) -> Walk:
    for first in range(0, max(flat.numel(), 1), CPU_PIECE):
        yield begin + first, flat[first : first + CPU_PIECE]
