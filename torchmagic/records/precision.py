"""This file is mixed precision: where autocast is on, which weights are half, and what a GradScaler does."""

from dataclasses import dataclass
from enum import StrEnum

from torchmagic.records.place import Place


class Deed(StrEnum):
    """What was done with gradients."""

    CLIP = "clip"
    STEP = "step"


@dataclass(frozen=True, slots=True, kw_only=True)
class AutocastRecord:
    """How a model ran as to autocast, once for each way seen.

    ``inside`` tells that the region opens in the model's own ``forward``. Of a model that ran with autocast and later
    without, the second is told too: ``enabled`` is False then, and ``device_type`` and ``dtype`` are empty.
    """

    model: str
    step: int
    enabled: bool
    device_type: str
    dtype: str
    inside: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AutocastBackwardRecord:
    """The first backward that ran while autocast was on, which torch advises against."""

    step: int
    device_type: str
    dtype: str
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfWeightsRecord:
    """A model some of whose weights are themselves of a half type: how many parameters, of how many."""

    model: str
    step: int
    dtype: str
    num_half: int
    num_parameters: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GradScalerRecord:
    """A GradScaler as it first steps an optimizer; one that is not enabled has no scale (NaN)."""

    step: int
    optimizer: str
    enabled: bool
    scale: float
    growth_factor: float
    backoff_factor: float
    growth_interval: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedStepRecord:
    """A step that a GradScaler left out because a gradient was not finite, and its scale then (NaN when unknown)."""

    step: int
    optimizer: str
    scale: float
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaledGradientsRecord:
    """Gradients that were clipped or applied while they were still multiplied by the scale."""

    step: int
    deed: Deed
    scale: float
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalerUseRecord:
    """How often the parts of loss scaling were used in a run; written at its end, where there was any.

    ``num_unscaled`` counts the user's own calls of ``unscale_``; ``num_past`` the steps that an optimizer took by
    itself with gradients of a scaled loss.
    """

    num_scaled: int
    num_unscaled: int
    num_steps: int
    num_skipped: int
    num_updates: int
    num_clipped_while_scaled: int
    num_past: int
