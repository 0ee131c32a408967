"""This file is the statistics of one tensor's values, in bounded memory and with float64 accuracy."""

import math
from dataclasses import dataclass, field, replace

import torch

from torchmagic.records.tensor import Histogram, Statistics
from torchmagic.tensors.chunks import numbers
from torchmagic.tensors.histogram import Bins, scale_for
from torchmagic.tensors.sample import SAMPLE_SIZE, quantiles, sorted_sample

# Beyond this a histogram of all values would cost more than everything else together.
EXACT_HISTOGRAM = 1 << 22
# As many indices as a person reads.
MAX_POSITIONS = 8


def measure(values: torch.Tensor, *, repeat: int = 1) -> tuple[Statistics, Histogram | None]:
    """Measure values without changing or copying them as a whole.

    Args:
        values: A dense tensor of any shape, dtype, device and strides, without gradient; complex numbers are
            measured by their magnitudes.
        repeat: How often each value counts (an expanded tensor stores fewer values than it shows).

    Returns:
        The statistics, and the histogram where there are two different finite values.

    Raises:
        RuntimeError: If torch cannot read the values (meta and fake tensors, packed dtypes).
    """
    extent = _extent(values)
    num_values = values.numel() * repeat
    counts = Statistics(
        num_values=num_values,
        num_nan=extent.num_nan * repeat,
        num_posinf=extent.num_posinf * repeat,
        num_neginf=extent.num_neginf * repeat,
        num_zero=extent.num_zero * repeat,
        num_negative=extent.num_negative * repeat,
        nonfinite_at=_indices(extent.places, values.shape),
    )
    if extent.low is None or extent.high is None:
        return counts, None
    return _finite_part(values, counts, extent.low, extent.high, repeat)


@dataclass(slots=True)
class _Extent:
    """What the first walk finds; it is needed before the second, which scales and bins."""

    low: float | None = None
    high: float | None = None
    num_nan: int = 0
    num_posinf: int = 0
    num_neginf: int = 0
    num_zero: int = 0
    num_negative: int = 0
    places: list[int] = field(default_factory=list)


def _extent(values: torch.Tensor) -> _Extent:
    extent = _Extent()
    start = 0
    for piece in numbers(values):
        length = piece.numel()
        if length:
            _widen(extent, piece, start)
        start += length
    return extent


def _widen(extent: _Extent, piece: torch.Tensor, start: int) -> None:
    lowest, highest = torch.aminmax(piece)
    low, high = lowest.item(), highest.item()
    if not (math.isfinite(low) and math.isfinite(high)):
        piece = _take_nonfinite(extent, piece, start)
        if not piece.numel():
            return
        lowest, highest = torch.aminmax(piece)
        low, high = lowest.item(), highest.item()
    if low <= 0 <= high:
        extent.num_zero += piece.numel() - int(torch.count_nonzero(piece))
    if high < 0:
        extent.num_negative += piece.numel()
    elif low < 0:
        extent.num_negative += int(torch.count_nonzero(piece < 0))
    extent.low = low if extent.low is None else min(extent.low, low)
    extent.high = high if extent.high is None else max(extent.high, high)


def _take_nonfinite(extent: _Extent, piece: torch.Tensor, start: int) -> torch.Tensor:
    """Count and locate what is not finite; return the rest."""
    finite = torch.isfinite(piece)
    extent.num_nan += int(torch.count_nonzero(torch.isnan(piece)))
    extent.num_posinf += int(torch.count_nonzero(piece == math.inf))
    extent.num_neginf += int(torch.count_nonzero(piece == -math.inf))
    wanted = MAX_POSITIONS - len(extent.places)
    if wanted:
        extent.places += [start + place for place in torch.nonzero(~finite).view(-1)[:wanted].tolist()]
    return piece[finite]


def _finite_part(
    values: torch.Tensor, counts: Statistics, low: float, high: float, repeat: int
) -> tuple[Statistics, Histogram | None]:
    abs_max = max(abs(low), abs(high))
    scale = scale_for(abs_max)
    whole = not (values.is_floating_point() or values.is_complex())
    exact = values.numel() <= EXACT_HISTOGRAM
    bins = None
    if high > low:
        bins = Bins(low, high, num_values=values.numel(), whole=whole, scale=scale, weight=repeat)
    mean, squares = _moments(values, scale, bins if exact else None)
    squares *= repeat
    ordered = sorted_sample(values)
    if bins and not exact:
        bins.add(torch.from_numpy(ordered * scale))
    num_finite = counts.num_finite
    statistics = replace(
        counts,
        num_distinct=_num_distinct(bins, exact=exact, whole=whole),
        min=low,
        max=high,
        # Rounding may push the mean of equal values past them by one unit in the last place.
        mean=min(max(mean / scale, low), high),
        std=math.sqrt(squares / (num_finite - 1)) / scale if num_finite > 1 else None,
        abs_max=abs_max,
        l2=math.sqrt(squares + num_finite * mean**2) / scale,
        quantiles=quantiles(ordered),
        num_sampled=SAMPLE_SIZE if values.numel() > SAMPLE_SIZE else 0,
    )
    return statistics, bins.record(num_sampled=0 if exact else len(ordered)) if bins else None


def _moments(values: torch.Tensor, scale: float, bins: Bins | None) -> tuple[float, float]:
    """Mean and sum of squared differences from it, of the scaled finite values; fills ``bins`` on the way.

    Pieces are joined by the update of Chan, Golub and LeVeque (1979), which does not cancel.
    """
    num_seen, mean, squares = 0, 0.0, 0.0
    for piece in numbers(values):
        work = piece.to(torch.float64, copy=True)
        if scale != 1.0:
            work.mul_(scale)
        total = work.sum().item()
        if not math.isfinite(total):
            work = work[torch.isfinite(work)]
            total = work.sum().item()
        num_new = work.numel()
        if not num_new:
            continue
        if bins is not None:
            bins.add(work)
        mean_new = total / num_new
        squares_new = work.sub_(mean_new).square_().sum().item()
        step = mean_new - mean
        num_seen, num_before = num_seen + num_new, num_seen
        mean += step * num_new / num_seen
        squares += squares_new + step**2 * num_before * num_new / num_seen
    return mean, squares


def _num_distinct(bins: Bins | None, *, exact: bool, whole: bool) -> int | None:
    if not whole:
        return None
    if bins is None:
        return 1
    return bins.num_filled if exact and bins.each_number else None


def _indices(places: list[int], shape: torch.Size) -> tuple[tuple[int, ...], ...]:
    found = []
    for place in places:
        index: list[int] = []
        rest = place
        for size in reversed(shape):
            rest, at = divmod(rest, size)
            index.insert(0, at)
        found.append(tuple(index))
    return tuple(found)
