"""This file is many small tensors in one array, each a segment of it: few kernels of NumPy read all of them."""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from torchmagic.tensors.presence import PLAIN
from torchmagic.tensors.reduce import SINGLES, flatten_dense_tensors

# Below this a sum of squares in single precision may have lost terms to underflow.
LEAST_SQUARES = 1e-24
# Of so many sets of tensors the places are kept.
MOST_KEPT = 32


@lru_cache(maxsize=MOST_KEPT)
def packing_of(sizes: tuple[int, ...]) -> "Packing":
    """Return the packing of tensors of these sizes; the newest ones are kept."""
    return Packing(sizes)


def packable_sizes(tensors: Sequence[torch.Tensor]) -> tuple[int, ...]:
    """Return how many values each tensor has; nothing where not all can lie in one array as they are.

    They can where they are of torch's own class, on the host, strided, there, and of one type: single or double.
    """
    kind, sizes = tensors[0].dtype if tensors else None, list[int]()
    for tensor in tensors:
        if type(tensor) not in PLAIN or tensor.dtype is not kind or tensor.layout is not torch.strided:
            return ()
        size = tensor.numel()
        if not (tensor.is_cpu and size and tensor.untyped_storage().nbytes()):
            return ()
        sizes.append(size)
    return tuple(sizes) if kind in SINGLES else ()


class Packed(NamedTuple):
    """Tensors in one array: where each lies, and the array, which is nobody else's."""

    packing: "Packing"
    values: NDArray[np.floating]


class Packing:
    """Where tensors lie in one array, one after another.

    Args:
        sizes: How many values each tensor has: at least one.

    Attributes:
        sizes: As given.
        counts: The same as an array.
        starts: Where each begins.
    """

    def __init__(self, sizes: tuple[int, ...]) -> None:
        self.sizes, self.counts = sizes, np.array(sizes)
        self.starts = np.cumsum(self.counts) - self.counts

    def pack(self, tensors: Sequence[torch.Tensor]) -> NDArray[np.floating]:
        """Return the values of all in an array of their own.

        Args:
            tensors: Strided ones on the host, of the sizes given and in their order, of single or double precision.
        """
        # Of one tensor torch would answer a view.
        flat = flatten_dense_tensors(tensors) if len(tensors) > 1 else tensors[0].reshape(-1).clone().resolve_neg()
        return flat.detach().numpy()

    def takes(self, tensors: Sequence[torch.Tensor]) -> bool:
        """Whether tensors that were of the sizes given are so still, and their memory is there."""
        sizes = tuple([tensor.numel() for tensor in tensors])
        return sizes == self.sizes and 0 not in [tensor.untyped_storage().nbytes() for tensor in tensors]

    def norms(self, packed: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return the L2 norm of each tensor; NaN and infinity come through."""
        with np.errstate(all="ignore"):
            squares = np.add.reduceat(np.square(packed), self.starts)
            if not (squares.min() > LEAST_SQUARES and squares.max() < math.inf):  # where single precision ends
                squares = np.add.reduceat(np.square(packed, dtype=np.float64), self.starts)
            return np.sqrt(squares, dtype=np.float64)

    def numbers(self, chosen: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Return how many values of each tensor are chosen.

        Args:
            chosen: For each value whether it is, as they are packed.
        """
        return np.add.reduceat(chosen, self.starts, dtype=np.int32)
