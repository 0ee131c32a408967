"""This file is the exact statistics of one tensor: slow, in double precision, with broken values set apart."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import torch

from torchmagic.tensors.chunks import numbers

# Squares of numbers between these neither overflow a float64 nor vanish in it.
LEAST_PEAK, GREATEST_PEAK = 1e-140, 1e140
# A float64 takes no higher power of two as a factor.
MOST_SHIFT = 1000


class Moments(NamedTuple):
    """Statistics of one tensor; complex numbers count by their magnitudes, sparse tensors by their stored values.

    Args:
        num_values: Values looked at.
        num_nonfinite: How many of them are NaN or infinite.
        norm: L2 norm of all values: NaN where one is NaN, else infinite where one is infinite.
        mean: Mean of the finite values; NaN where there are none, as for the next two.
        std: Their standard deviation (divided by n).
        abs_max: Their greatest magnitude.
        zero_share: Share of zeros among all values; NaN for an empty tensor.
    """

    num_values: int
    num_nonfinite: int = 0
    norm: float = 0.0
    mean: float = math.nan
    std: float = math.nan
    abs_max: float = math.nan
    zero_share: float = math.nan


# What is said of a tensor that cannot be read.
UNREADABLE = Moments(num_values=0, norm=math.nan)


def exact_moments(values: torch.Tensor) -> Moments:
    """Return the statistics of a strided tensor without gradient, right for every size and mix of its values.

    Raises:
        RuntimeError: If torch cannot read the values.
    """
    num_values, num_bad, num_nonzero, broken, peak = values.numel(), 0, 0, 0.0, 0.0
    for piece, bad in _finite_pieces(values):
        num_bad += bad.numel()
        if bad.numel():
            broken += bad.abs().sum().item()  # infinite, or NaN where one is NaN
        if piece.numel():
            low, high = torch.aminmax(piece)
            peak = max(peak, -low.item(), high.item())
            num_nonzero += int(torch.count_nonzero(piece))
    if num_values == num_bad:
        norm = broken if num_bad else 0.0
        return Moments(
            num_values=num_values, num_nonfinite=num_bad, norm=norm, zero_share=0.0 if num_values else math.nan
        )
    scale = 1.0
    if peak and not LEAST_PEAK < peak < GREATEST_PEAK:
        scale = 2.0 ** max(-MOST_SHIFT, min(MOST_SHIFT, -math.frexp(peak)[1]))
    num_finite, mean, squares = _scaled_moments(values, scale)
    return Moments(
        num_values=num_values,
        num_nonfinite=num_bad,
        norm=broken if num_bad else math.sqrt(squares + num_finite * mean**2) / scale,
        mean=mean / scale,
        std=math.sqrt(squares / num_finite) / scale,
        abs_max=peak,
        zero_share=(num_finite - num_nonzero) / num_values,
    )


def _scaled_moments(values: torch.Tensor, scale: float) -> tuple[int, float, float]:
    """Number, mean and squared differences from it, of the finite values times ``scale``.

    Pieces are joined by the update of Chan, Golub and LeVeque (1979), which does not cancel.
    """
    num_seen, mean, squares = 0, 0.0, 0.0
    for piece, _ in _finite_pieces(values):
        num_new = piece.numel()
        if not num_new:
            continue
        work = piece.to(torch.float64, copy=True)
        if scale != 1.0:
            work.mul_(scale)
        mean_new = work.mean().item()
        squares_new = work.sub_(mean_new).square_().sum().item()
        step = mean_new - mean
        num_before, num_seen = num_seen, num_seen + num_new
        mean += step * num_new / num_seen
        squares += squares_new + step**2 * num_before * num_new / num_seen
    return num_seen, mean, squares


def _finite_pieces(values: torch.Tensor) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Walk a tensor; yield what is finite of each piece, and what is not."""
    for piece in numbers(values):
        finite = torch.isfinite(piece)
        if finite.all():
            yield piece, piece[:0]
        else:
            yield piece[finite], piece[~finite]
