"""This file is many small tensors in one array: those of one size as rows of a matrix, so that few kernels read all."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray

from torchmagic.tensors.reduce import flatten_dense_tensors

# Tensors of one size that hold so many values together are read as a matrix; all others as segments of an array, which
# takes longer for each value, but no kernel more for each size. Of few sizes all are.
LEAST_MATRIX, FEW_SIZES = 1 << 14, 6
# Of so many sets of tensors.
MOST_KEPT = 32


@lru_cache(maxsize=MOST_KEPT)
def packing_of(sizes: tuple[int, ...]) -> "Packing":
    """Return the packing of tensors of these sizes; the newest ones are kept."""
    return Packing(sizes)


class Packing:
    """The order in which tensors lie in one array.

    What is told of each tensor is in the order in which the sizes were given. Nothing here makes an array of double
    precision that is as large as all tensors: getting that much memory takes longer than what is done with it.

    Args:
        sizes: How many values each tensor has: at least one.
    """

    def __init__(self, sizes: tuple[int, ...]) -> None:
        places: dict[int, list[int]] = {}
        for place, size in enumerate(sizes):
            places.setdefault(size, []).append(place)
        few = len(places) <= FEW_SIZES
        matrices = {size: of for size, of in places.items() if few or size * len(of) >= LEAST_MATRIX}
        others = [place for size, of in places.items() if size not in matrices for place in of]
        self._order = [*(place for of in matrices.values() for place in of), *others]
        self._lies_at = np.argsort(self._order).tolist()
        self._shapes = [(len(of), size) for size, of in matrices.items()]
        widths = np.array([sizes[place] for place in self._order])
        self._starts = np.cumsum(widths) - widths

    def pack(self, tensors: Sequence[torch.Tensor]) -> torch.Tensor:
        """Return the values of all in one array of their own.

        Args:
            tensors: Dense ones on the host, of the sizes given and in the order of these, of one type.
        """
        if len(tensors) == 1:  # of which torch would answer a view
            return tensors[0].clone().reshape(-1)
        return flatten_dense_tensors([tensors[place] for place in self._order])  # type: ignore[no-any-return] # torch

    def norms(self, packed: torch.Tensor) -> list[float]:
        """Return the L2 norm of each tensor, summed in double precision; NaN and infinity come through."""
        found, start = list[float](), 0
        for num, size in self._shapes:
            end = start + num * size
            matrix = packed[start:end].view(num, size)
            found += torch.linalg.vector_norm(matrix, dim=1, dtype=torch.float64).tolist()
            start = end
        if len(found) < len(self._order):
            with np.errstate(all="ignore"):
                squares = np.square(packed[start:].numpy(), dtype=np.float64)
                found += np.sqrt(np.add.reduceat(squares, self._starts[len(found) :] - start)).tolist()
        return [found[place] for place in self._lies_at]

    def counts(self, chosen: NDArray[np.bool_]) -> list[int]:
        """Return how many values of each tensor are chosen.

        Args:
            chosen: For each value whether it is, as they are packed.
        """
        found = np.add.reduceat(chosen, self._starts, dtype=np.int64).tolist()
        return [found[place] for place in self._lies_at]
