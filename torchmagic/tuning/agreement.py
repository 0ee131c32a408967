"""This file is whether two ways to train agree: outputs, gradients and the curve of the loss, judged by dtype."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves

SAME, DIFFERS = "same", "differs"
# How many roundings apart, in units of the dtype's own, a long sum may be in another order. Of gradients more, for an
# activation at its kink flips; of losses too, whose differences grow from step to step.
ROUNDINGS, GRADIENT_ROUNDINGS, CURVE_ROUNDINGS = 1000.0, 10_000.0, 10_000.0
# The same for a lower precision in use: some layers deep, in units of its own.
LOWER_ROUNDINGS, LOWER_GRADIENT_ROUNDINGS, LOWER_CURVE_ROUNDINGS = 16.0, 16.0, 24.0
_BOUNDS = ROUNDINGS, GRADIENT_ROUNDINGS, CURVE_ROUNDINGS
_LOWER_BOUNDS = LOWER_ROUNDINGS, LOWER_GRADIENT_ROUNDINGS, LOWER_CURVE_ROUNDINGS
# A gradient far below the largest is mostly rounding; it is measured against this share of the largest.
_SMALLEST_SHARE = 1e-2
# The gradient of one parameter may be so many times further away than all together; a wrong factor is farther.
_ONE_PARAMETER = 3.0
_NAMES = {torch.bfloat16: "bf16", torch.float16: "fp16"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What one way gave.

    Args:
        outputs: Tensors of the first step's outputs, in order.
        gradients: Those of the first step by parameter name.
        losses: One a step.
    """

    outputs: tuple[torch.Tensor, ...]
    gradients: Mapping[str, torch.Tensor]
    losses: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How far apart two sets of numbers are.

    Args:
        largest: The largest absolute difference; NaN where only one side has a number.
        relative: What is judged: the same by the largest magnitude beside it; of gradients, the length of the
            difference by the length of the gradient, over all, or a third of it for the worst parameter.
        place: Where it is worst: an output's number, a parameter's name, a step.
    """

    largest: float
    relative: float
    place: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Whether two ways agree.

    Args:
        outputs: Difference of the first step's outputs.
        gradients: Difference of the first step's gradients.
        losses: Difference of the losses, over all steps that both did.
        verdict: ``"same"``, ``"same within bf16 rounding"``, ``"same within fp16 rounding"`` or ``"differs"``.
    """

    outputs: Difference
    gradients: Difference
    losses: Difference
    verdict: str


def seen_at(outputs: Sequence[Any], model: nn.Module, losses: Sequence[float] = ()) -> Seen:
    """Return copies of the outputs of all pieces of a step, joined by rows, and of the gradients that are there now."""
    leaves = [[each for each in tree_leaves(piece) if isinstance(each, torch.Tensor)] for piece in outputs]
    joined = [_joined(parts) for parts in zip(*leaves, strict=True)]
    gradients = {
        name: _plain(each.grad) for name, each in model.named_parameters() if isinstance(each.grad, torch.Tensor)
    }
    return Seen(outputs=tuple(joined), gradients=gradients, losses=tuple(losses))


def _joined(parts: Sequence[torch.Tensor]) -> torch.Tensor:
    if len(parts) == 1 or not parts[0].ndim:
        return _plain(parts[0])
    return torch.cat([_plain(each) for each in parts])


def _plain(tensor: torch.Tensor) -> torch.Tensor:
    tensor = tensor.detach()
    return (tensor.to_dense() if tensor.layout is not torch.strided else tensor).clone()


def agreement(
    reference: Seen, candidate: Seen, *, dtype: torch.dtype, lower: torch.dtype | None = None, tf32: bool = False
) -> Agreement:
    """Compare two ways.

    Args:
        reference: What the plain way gave.
        candidate: What the other gave.
        dtype: In which the reference computes.
        lower: In which the other computes where it may; its rounding is then allowed too.
        tf32: Whether torch may round the factors of float32 products to TF32, as it lets cuDNN do by itself.
    """
    outputs = _outputs(reference.outputs, candidate.outputs)
    gradients = _gradients(reference.gradients, candidate.gradients)
    losses = _losses(reference.losses, candidate.losses)
    found = (outputs.relative, gradients.relative, losses.relative)
    verdict = DIFFERS
    if _are_within(found, torch.finfo(dtype).eps, _BOUNDS):
        verdict = SAME
    elif lower is not None and _are_within(found, torch.finfo(lower).eps, _LOWER_BOUNDS):
        verdict = f"{SAME} within {_NAMES.get(lower, str(lower))} rounding"
    elif tf32 and _are_within(found, torch.finfo(torch.float16).eps, _LOWER_BOUNDS):  # as many bits as TF32's
        verdict = f"{SAME} within tf32 rounding"
    return Agreement(outputs=outputs, gradients=gradients, losses=losses, verdict=verdict)


def _are_within(found: Sequence[float], eps: float, bounds: Sequence[float]) -> bool:
    return all(each <= bound * eps for each, bound in zip(found, bounds, strict=True))


def _outputs(one: Sequence[torch.Tensor], other: Sequence[torch.Tensor]) -> Difference:
    if len(one) != len(other):
        return Difference(largest=math.nan, relative=math.inf, place=f"{len(one)} outputs and {len(other)}")
    found = [_difference(a, b, f"output {i}") for i, (a, b) in enumerate(zip(one, other, strict=True))]
    return _worst(found)


def _gradients(one: Mapping[str, torch.Tensor], other: Mapping[str, torch.Tensor]) -> Difference:
    """Compare by length, over all and by parameter: where an activation flips, single numbers jump in any precision."""
    lonely = sorted(set(one) ^ set(other))
    if lonely:
        return Difference(largest=math.nan, relative=math.inf, place=f"{lonely[0]}: only one has a gradient")
    norms = {name: _norm(each) for name, each in one.items()}
    gaps = {name: _gap_of(one[name], other[name]) for name in one}
    largest = max((_magnitude(each) for each in gaps.values()), default=0.0)
    floor = _SMALLEST_SHARE * max(norms.values(), default=0.0)
    by_name = {name: _ratio(_norm(gap), max(norms[name], floor)) / _ONE_PARAMETER for name, gap in gaps.items()}
    if not all(map(math.isfinite, by_name.values())):
        place = next(name for name, each in by_name.items() if not math.isfinite(each))
        return Difference(largest=math.nan, relative=math.inf, place=place)
    overall = _ratio(math.hypot(*map(_norm, gaps.values())), math.hypot(*norms.values()))
    place = max(by_name, key=by_name.__getitem__, default="")
    return Difference(largest=largest, relative=max(overall, by_name.get(place, 0.0)), place=place)


def _losses(one: Sequence[float], other: Sequence[float]) -> Difference:
    number = min(len(one), len(other))
    pairs = zip(one[:number], other[:number], strict=True)
    scale = max((abs(each) for each in one[:number] if math.isfinite(each)), default=0.0)
    return _worst([_gap(a, b, scale, f"step {i}") for i, (a, b) in enumerate(pairs, start=1)])


def _gap(one: float, other: float, scale: float, place: str) -> Difference:
    if one == other or (math.isnan(one) and math.isnan(other)):
        return Difference(largest=0.0, relative=0.0, place=place)
    gap = abs(one - other)
    if not math.isfinite(gap):
        return Difference(largest=math.nan, relative=math.inf, place=place)
    return Difference(largest=gap, relative=_ratio(gap, scale), place=place)


def _difference(one: torch.Tensor, other: torch.Tensor, place: str) -> Difference:
    if one.shape != other.shape:
        place = f"{place}: {tuple(one.shape)} and {tuple(other.shape)}"
        return Difference(largest=math.nan, relative=math.inf, place=place)
    gap = _gap_of(one, other)
    if not bool(gap.isfinite().all()):
        return Difference(largest=math.nan, relative=math.inf, place=place)
    largest = _magnitude(gap)
    return Difference(largest=largest, relative=_ratio(largest, _magnitude(one)), place=place)


def _gap_of(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Return absolute differences; none where both are NaN, or the same infinity."""
    one, other = _wide(one), _wide(other)
    return torch.where((one == other) | (one.isnan() & other.isnan()), 0.0, (one - other).abs())


def _ratio(gap: float, scale: float) -> float:
    if not gap:
        return 0.0
    return gap / scale if scale else math.inf


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    return tensor if tensor.dtype is torch.float64 or tensor.is_complex() else tensor.float()


def _magnitude(tensor: torch.Tensor) -> float:
    return float(_wide(tensor).abs().nan_to_num(0.0, 0.0, 0.0).amax()) if tensor.numel() else 0.0


def _norm(tensor: torch.Tensor) -> float:
    return float(torch.linalg.vector_norm(_wide(tensor)))


def _worst(found: Sequence[Difference]) -> Difference:
    return max(found, key=lambda each: each.relative, default=Difference(largest=0.0, relative=0.0))
