"""This file is the chance level: the loss that the best constant prediction would have on the targets seen."""

import math
from typing import Any, NamedTuple

import numpy as np
import torch

from torchmagic.tensors.batch import has_values

# Targets below this number say too little of what the best constant would be.
FEWEST_TARGETS = 8
# Targets of a larger batch that are looked at, evenly spread.
MOST_TARGETS = 1 << 13
CLASSES = ("cross_entropy", "nll_loss")
BINARY = ("binary_cross_entropy", "binary_cross_entropy_with_logits")
# Where each criterion takes its target weights by position, and by which names; smoothing and reduction go by name.
WEIGHTS = ("weight", "pos_weight")
Values = np.ndarray[Any, np.dtype[np.float64]]


class Chance(NamedTuple):
    """Some targets of a call of a criterion (None where they say nothing), and what is known of the criterion.

    Args:
        criterion: Its name.
        targets: Targets, at most ``MOST_TARGETS``.
        num_classes: Classes that the outputs tell apart; 0 without any.
        altered: Whether it has weights, label smoothing or another reduction than the mean.
    """

    criterion: str
    targets: Values | None
    num_classes: int
    altered: bool


def chance_of(name: str, args: Any, kwargs: Any, *, level: bool = True) -> Chance:
    """Return what a call of a criterion says of chance, or, without ``level``, all but its targets."""
    given = args[0] if args else kwargs.get("input")
    target = args[1] if len(args) > 1 else kwargs.get("target")
    if not isinstance(given, torch.Tensor) or not isinstance(target, torch.Tensor):
        return Chance(name, None, 0, altered=True)
    num_classes = (given.shape[1] if given.dim() > 1 else given.shape[0]) if name in CLASSES and given.dim() else 0
    altered = _is_altered(args, kwargs)
    if not level or altered or not has_values(target) or target.numel() < FEWEST_TARGETS or target.is_complex():
        return Chance(name, None, num_classes, altered)
    classes = name in CLASSES and not target.is_floating_point() and num_classes > 1
    numbers = name in (*BINARY, "mse_loss", "l1_loss") and target.shape == given.shape
    if not classes and not numbers:
        return Chance(name, None, num_classes, altered)
    flat = target.detach().reshape(-1)
    few = flat[:: -(-flat.numel() // MOST_TARGETS)].double().cpu().numpy()
    if not np.isfinite(few).all():
        return Chance(name, None, num_classes, altered)
    if classes:
        few = few[(few != int(kwargs.get("ignore_index", -100))) & (few >= 0) & (few < num_classes)]
    return Chance(name, few, num_classes, altered)


class Level:
    """The loss of the best constant prediction over all targets that it was told."""

    def __init__(self) -> None:
        self._calls: list[Chance] = []

    def add(self, chance: Chance) -> float:
        """Take the targets of one more call; return the level over all so far, NaN where it is not known."""
        if chance.targets is None:
            return math.nan
        self._calls = [each for each in self._calls if each.criterion == chance.criterion]
        self._calls.append(chance)
        targets = np.concatenate([each.targets for each in self._calls if each.targets is not None])
        return _level(chance, targets) if len(targets) >= FEWEST_TARGETS else math.nan


def _level(chance: Chance, targets: Values) -> float:
    if chance.criterion in CLASSES:
        return _entropy(targets, chance.num_classes)
    if chance.criterion in BINARY:
        return _binary_entropy(float(targets.mean()))
    if chance.criterion == "mse_loss":
        return float(targets.var())
    return float(np.abs(targets - np.median(targets)).mean())


def _is_altered(args: Any, kwargs: Any) -> bool:
    """Whether a call has weights, label smoothing or another reduction than the mean."""
    weighted = any(isinstance(each, torch.Tensor) for each in args[2:])
    weighted = weighted or any(kwargs.get(each) is not None for each in WEIGHTS)
    return weighted or bool(kwargs.get("label_smoothing")) or kwargs.get("reduction", "mean") != "mean"


def _entropy(targets: Values, num_classes: int) -> float:
    """Return the entropy of class targets: that of a sample is too low by about (classes - 1) / (2 samples)."""
    counts = np.bincount(targets.astype(np.int64))
    shares = counts[counts > 0] / len(targets)
    entropy = float(-(shares * np.log(shares)).sum()) + (len(shares) - 1) / (2 * len(targets))
    return min(entropy, math.log(num_classes))


def _binary_entropy(share: float) -> float:
    if not 0 < share < 1:
        return math.nan
    return -share * math.log(share) - (1 - share) * math.log(1 - share)
