"""This file is the chance level: the loss that the best constant prediction would have on a batch of targets."""

import math
from typing import Any, NamedTuple

import torch

# Targets below this number say too little of what the best constant would be.
FEWEST_TARGETS = 8
# Targets of a larger batch that are looked at.
MOST_TARGETS = 1 << 16
CLASSES = ("cross_entropy", "nll_loss")
BINARY = ("binary_cross_entropy", "binary_cross_entropy_with_logits")
# Where each criterion takes its target weights by position, and by which names; smoothing and reduction go by name.
WEIGHTS = ("weight", "pos_weight")


class Chance(NamedTuple):
    """The chance level (NaN where it is not known), the number of classes, and whether the criterion is altered."""

    loss: float
    num_classes: int
    altered: bool


def chance_of(name: str, args: Any, kwargs: Any, *, level: bool = True) -> Chance:
    """Return the chance level of a call of a criterion, or, without ``level``, only the rest."""
    given = args[0] if args else kwargs.get("input")
    target = args[1] if len(args) > 1 else kwargs.get("target")
    if not isinstance(given, torch.Tensor) or not isinstance(target, torch.Tensor):
        return Chance(math.nan, 0, altered=True)
    num_classes = (given.shape[1] if given.dim() > 1 else given.shape[0]) if name in CLASSES and given.dim() else 0
    altered = _is_altered(args, kwargs)
    if not level or altered or target.numel() < FEWEST_TARGETS or target.is_meta or target.is_complex():
        return Chance(math.nan, num_classes, altered)
    few = target.detach().reshape(-1)[:MOST_TARGETS]
    loss = math.nan
    if name in CLASSES and not target.is_floating_point() and num_classes > 1:
        loss = _entropy(few, num_classes, int(kwargs.get("ignore_index", -100)))
    elif name in BINARY and target.shape == given.shape:
        loss = _binary_entropy(float(few.double().mean()))
    elif name == "mse_loss" and target.shape == given.shape:
        loss = float(few.double().var(correction=0))
    elif name == "l1_loss" and target.shape == given.shape:
        loss = float((few.double() - few.double().median()).abs().mean())
    return Chance(loss, num_classes, altered)


def _is_altered(args: Any, kwargs: Any) -> bool:
    """Whether a call has weights, label smoothing or another reduction than the mean."""
    weighted = any(isinstance(each, torch.Tensor) for each in args[2:])
    weighted = weighted or any(kwargs.get(each) is not None for each in WEIGHTS)
    return weighted or bool(kwargs.get("label_smoothing")) or kwargs.get("reduction", "mean") != "mean"


def _entropy(targets: torch.Tensor, num_classes: int, ignored: int) -> float:
    """Return the entropy of class targets: that of a sample is too low by about (classes - 1) / (2 samples)."""
    kept = targets[(targets != ignored) & (targets >= 0) & (targets < num_classes)].long()
    if kept.numel() < FEWEST_TARGETS:
        return math.nan
    counts = torch.bincount(kept, minlength=num_classes).double()
    shares = counts[counts > 0] / kept.numel()
    entropy = float(-(shares * shares.log()).sum()) + (len(shares) - 1) / (2 * kept.numel())
    return min(entropy, math.log(num_classes))


def _binary_entropy(share: float) -> float:
    if not 0 < share < 1:
        return math.nan
    return -share * math.log(share) - (1 - share) * math.log(1 - share)
