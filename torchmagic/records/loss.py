"""This file is the loss: what a criterion was given, and what was wrong with it."""

from dataclasses import dataclass

from torchmagic.records.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class LossRecord:
    """The tensors that one kind of loss gets, as first seen at one line."""

    name: str
    input_shape: tuple[int, ...]
    target_shape: tuple[int, ...]
    reduction: str
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BackwardRecord:
    """A line that calls ``backward``, and the name under which its loss is kept."""

    name: str
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BroadcastRecord:
    """An elementwise loss stretched its input and target against each other.

    Shapes are those of prediction, target and their difference; ``loss`` is the function or ``subtraction``.
    """

    step: int
    loss: str
    input_shape: tuple[int, ...]
    target_shape: tuple[int, ...]
    output_shape: tuple[int, ...]
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbabilityInputRecord:
    """A loss that wants logits was given a batch of probabilities over the class dimension.

    Args:
        step: Optimizer steps made before.
        loss: Name of the loss function.
        rows: Samples looked at; each had all values in [0, 1].
        deviation: Largest distance of a row's sum from 1.
        place: Line of the loss.
        producer: Path of the module that normalised, when a module did.
        producer_place: Line that normalised, when it was seen.
    """

    step: int
    loss: str
    rows: int
    deviation: float
    place: Place | None
    producer: str | None
    producer_place: Place | None
