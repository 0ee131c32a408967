"""This file is the snapshot: how the values of a parameter, gradient or layer output were spread at one step."""

from dataclasses import dataclass
from enum import StrEnum

from torchmagic.records.tensor import Histogram


class SnapshotKind(StrEnum):
    """What a snapshot is of."""

    WEIGHT = "weight"
    GRADIENT = "gradient"
    ACTIVATION = "activation"


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotRecord:
    """One tensor at one step.

    Args:
        what: What it is of.
        subject: Full name of the parameter, or path of the module.
        step: Optimizer steps made before.
        histogram: Of its finite values; None where all are equal or none is finite.
        values: A few of its elements, at even distances, always the same ones.
    """

    what: SnapshotKind
    subject: str
    step: int
    histogram: Histogram | None
    values: tuple[float, ...]
