"""This file is clipping: the lines that bound gradients, and whether a step used what they bounded."""

from dataclasses import dataclass

from torchmagic.records.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class ClippingLineRecord:
    """A line that bounds gradients, as it first did so.

    Args:
        step: Optimizer steps made before.
        place: The line.
    """

    step: int
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipRecord:
    """How often a line that clips gradients was followed by a step on what it had clipped; written as the run ends.

    Args:
        optimizer: The optimizer that owns the parameters; empty where none was seen.
        step: The first step that did not use what was clipped.
        used: Steps that used gradients as they were clipped.
        unused: Steps before which it clipped old, reset or no gradients.
        after_step: Those of them before which gradients were clipped that a step had used already.
        place: The line.
        empty: Those of them before which it was given no parameters at all.
        gradless: How often none of what it was given had a gradient, and no optimizer had stepped on any of it.
    """

    optimizer: str
    step: int
    used: int
    unused: int
    after_step: int
    place: Place | None
    empty: int = 0
    gradless: int = 0
