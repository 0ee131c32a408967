"""This file is the check of a model's gradients: statistics of each, and which are too large or too small."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn

from torchmagic.models.parameters import parameters_of
from torchmagic.tensors import reduce
from torchmagic.tensors.chunks import as_numbers
from torchmagic.tensors.exact import Moments
from torchmagic.tensors.moments import moments_of
from torchmagic.tensors.reduce import fetch, values_of

# What the document on debugging gives as reasonable for a parameter's norm; scales of losses differ, so both are asked.
EXPLODED, VANISHED = 10.0, 1e-6


@dataclass(frozen=True, slots=True)
class GradientStatistics:
    """Statistics of one parameter's gradient; complex values count by their magnitudes, sparse ones where stored.

    Args:
        parameter: The parameter's name.
        elements: Values looked at: all of a dense gradient, the stored ones of a sparse one, this rank's of a sharded.
        norm: L2 norm of all values: NaN where one is NaN, else infinite where one is infinite.
        mean: Mean of the finite values; NaN where there are none, as for the next two.
        std: Their standard deviation (divided by n).
        abs_max: Their greatest magnitude.
        nans: Values that are NaN.
        infs: Values that are infinite.
        zeros: Values that are zero.
    """

    parameter: str
    elements: int
    norm: float
    mean: float
    std: float
    abs_max: float
    nans: int
    infs: int
    zeros: int

    @property
    def has_nan(self) -> bool:
        """Whether a value is NaN."""
        return self.nans > 0

    @property
    def has_inf(self) -> bool:
        """Whether a value is infinite."""
        return self.infs > 0

    @property
    def is_finite(self) -> bool:
        """Whether all values are finite."""
        return not (self.nans or self.infs)

    @property
    def grad_norm(self) -> float:
        """The norm, as an analysis of the parameter calls it."""
        return self.norm

    def unscaled(self, scale: float) -> "GradientStatistics":
        """Return what the statistics would be without the factor that a gradient scaler put on the loss."""
        shrunk = {name: getattr(self, name) / scale for name in ("norm", "mean", "std", "abs_max")}
        return replace(self, **shrunk)


def gradients_of(model: Any) -> dict[str, GradientStatistics]:
    """Measure the gradients that a model's parameters have at present, without changing them.

    Args:
        model: A module, a wrapper around one, or an object that holds some, such as a pipeline.

    Returns:
        Statistics by parameter name, in the order of the model; parameters without a gradient are left out, and so
        are gradients that cannot be read, such as those on the meta device.

    Raises:
        TypeError: If there is no model; one line.
    """
    return statistics_of(held_gradients(parameters_of(model)))


def held_gradients(parameters: Mapping[str, nn.Parameter]) -> dict[str, torch.Tensor]:
    """Return the gradients that parameters have at present, by name."""
    gradients = {name: each.grad for name, each in parameters.items() if each.is_leaf}
    return {name: each for name, each in gradients.items() if each is not None}


def statistics_of(held: Mapping[str, torch.Tensor]) -> dict[str, GradientStatistics]:
    """Measure gradients, by name; what cannot be read is left out."""
    measured = dict(zip(held, moments_of(list(held.values())), strict=True))
    # An empty gradient can be read and has norm 0; what cannot be read has no norm.
    readable = {name: each for name, each in measured.items() if each.num_values or each.norm == 0}
    nans = _nans({name: held[name] for name, each in readable.items() if each.num_nonfinite})
    return {name: _statistics(name, each, nans.get(name, 0)) for name, each in readable.items()}


def total_norm(statistics: Mapping[str, GradientStatistics] | Iterable[GradientStatistics]) -> float:
    """Return the L2 norm of all gradients together; NaN and infinity come through, 0 where there are none."""
    each = statistics.values() if isinstance(statistics, Mapping) else statistics
    return reduce.total_norm([one.norm for one in each])


def exploded(statistics: Mapping[str, GradientStatistics], threshold: float = EXPLODED) -> list[str]:
    """Return the parameters whose gradient's norm is above a threshold, or not finite.

    Args:
        statistics: What ``gradients_of`` measured.
        threshold: Norm above which a gradient counts as exploded.

    Raises:
        ValueError: If the threshold is no number above 0; one line.
    """
    most = checked_threshold(threshold)
    return [name for name, each in statistics.items() if not each.norm <= most]


def vanished(statistics: Mapping[str, GradientStatistics], threshold: float = VANISHED) -> list[str]:
    """Return the parameters whose gradient's norm is below a threshold; one without values has none to vanish.

    Args:
        statistics: What ``gradients_of`` measured.
        threshold: Norm below which a gradient counts as vanished.

    Raises:
        ValueError: If the threshold is no number above 0; one line.
    """
    least = checked_threshold(threshold)
    return [name for name, each in statistics.items() if each.elements and each.norm < least]


def check_gradient_explosion(model: Any, threshold: float = EXPLODED) -> list[str]:
    """Return the names of a model's parameters whose gradient has exploded: see ``exploded``."""
    checked_threshold(threshold)
    return exploded(gradients_of(model), threshold)


def check_gradient_vanishing(model: Any, threshold: float = VANISHED) -> list[str]:
    """Return the names of a model's parameters whose gradient has vanished: see ``vanished``."""
    checked_threshold(threshold)
    return vanished(gradients_of(model), threshold)


def checked_threshold(threshold: Any) -> float:
    """Return a norm to compare with.

    Raises:
        ValueError: If it is no number above 0; one line.
    """
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 < threshold < math.inf:
        raise ValueError(f"a threshold is a gradient norm above 0, such as {EXPLODED:g}, {threshold!r} came")
    return float(threshold)


def _statistics(name: str, found: Moments, nans: int) -> GradientStatistics:
    zeros = round(found.zero_share * found.num_values) if found.num_values else 0
    return GradientStatistics(
        parameter=name,
        elements=found.num_values,
        norm=found.norm,
        mean=found.mean,
        std=found.std,
        abs_max=found.abs_max,
        nans=nans,
        infs=found.num_nonfinite - nans,
        zeros=zeros,
    )


def _nans(broken: Mapping[str, torch.Tensor]) -> dict[str, int]:
    """Count NaN in the few gradients that are not finite, as magnitudes, since an infinite part makes one infinite."""
    values = {name: values_of(each) for name, each in broken.items()}
    counts = [torch.isnan(as_numbers(each)).sum() for each in values.values()]
    return {name: int(count) for name, count in zip(values, fetch(counts), strict=True)}
