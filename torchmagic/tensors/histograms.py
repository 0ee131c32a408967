"""This file is the histograms of many tensors at once: small ones are counted together."""

import math
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from torchmagic.records.tensor import EvenEdges, Histogram, even_edges
from torchmagic.tensors.histogram import suitable_bins
from torchmagic.tensors.packing import Packing
from torchmagic.tensors.reduce import SINGLES

# Up to so many values, starting torch's kernel costs more than what it counts.
FEW_VALUES = 1 << 12
# Of so many values the arrays in between stay in a core's cache.
MOST_VALUES = 1 << 15


def histograms_of(tensors: Sequence[torch.Tensor]) -> list[Histogram | None]:
    """Return how the finite values of each tensor are spread; None where all are equal or none is finite.

    Args:
        tensors: Real floating-point ones on the host, of one dimension, without gradient, with a value.
    """
    found, small, size = list[Histogram | None](), list[torch.Tensor](), 0
    for tensor in tensors:
        single = tensor if tensor.dtype in SINGLES else tensor.float()
        count = single.numel()
        if small and (count > FEW_VALUES or size + count > MOST_VALUES):
            found += _together(small)
            small, size = [], 0
        if count > FEW_VALUES:
            found.append(_alone(single))
        else:
            small.append(single)
            size += count
    return [*found, *_together(small)] if small else found


def _together(tensors: list[torch.Tensor]) -> list[Histogram | None]:
    """Count small tensors in one array; by itself one that is constant or has a value that is not finite."""
    packing = Packing(tuple([each.numel() for each in tensors]))
    packed = packing.pack(tensors)
    numbers = np.array([suitable_bins(size) for size in packing.sizes])
    with np.errstate(all="ignore"):  # an unbounded width gives none
        lows = np.minimum.reduceat(packed, packing.starts).astype(np.float64)
        highs = np.maximum.reduceat(packed, packing.starts).astype(np.float64)
        counts = _counted(packed, packing, numbers, lows, highs - lows).tolist()
        edges = _edges(numbers, lows, highs - lows).tolist()
    found, start = list[Histogram | None](), 0
    for tensor, number, low, high in zip(tensors, numbers.tolist(), lows.tolist(), highs.tolist(), strict=True):
        if 0.0 < high - low < math.inf:
            bins = slice(start, start + number)
            found.append(Histogram(edges=EvenEdges((*edges[bins], high)), counts=tuple(counts[bins])))
        else:
            found.append(_alone(tensor))
        start += number
    return found


def _edges(numbers: NDArray[np.int64], lows: NDArray[np.float64], widths: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return where each bin begins, to the bit as ``even_edges`` has it, all tensors' bins one after another."""
    apart = np.arange(numbers.sum()) - np.repeat(np.cumsum(numbers) - numbers, numbers)
    inward: NDArray[np.float64] = np.repeat(widths, numbers) * apart / np.repeat(numbers, numbers)
    return np.repeat(lows, numbers) + inward


def _counted(
    packed: NDArray[np.floating],
    packing: Packing,
    numbers: NDArray[np.int64],
    lows: NDArray[np.float64],
    widths: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Return how many values fall into each bin, all tensors' bins one after another."""
    kind = packed.dtype.type
    shares = packed - np.repeat(lows.astype(kind), packing.counts)
    shares *= np.repeat((numbers / widths).astype(kind), packing.counts)
    # What is not a number has no place: its tensor is counted by itself.
    places = np.fmin(shares, np.repeat(kind(numbers - 1), packing.counts), out=shares).astype(np.intp)
    places += np.repeat(np.cumsum(numbers) - numbers, packing.counts)
    return np.bincount(places, minlength=int(numbers.sum()))


def _alone(values: torch.Tensor) -> Histogram | None:
    low, high = (each.item() for each in torch.aminmax(values))
    if not (math.isfinite(low) and math.isfinite(high)):
        values = values[torch.isfinite(values)]
        if not values.numel():
            return None
        low, high = (each.item() for each in torch.aminmax(values))
    if not 0.0 < high - low < math.inf:
        return None
    number = suitable_bins(values.numel())
    counts = torch.histc(values, number, low, high).tolist()
    return Histogram(edges=even_edges(low, high, number), counts=tuple(map(int, counts)))
