"""This file is the loss: what a criterion was given, and what was wrong with it."""

import math
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
    """A line that calls ``backward``, and the name under which its loss is kept.

    ``step`` is that of its first call.
    """

    name: str
    place: Place | None
    step: int = 0


# What a ``BroadcastRecord`` calls losses that are multiplied with weights.
WEIGHTED = "the product with the weights"


@dataclass(frozen=True, slots=True, kw_only=True)
class BroadcastRecord:
    """An elementwise loss stretched its input and target against each other.

    Shapes are those of prediction, target and their difference; ``loss`` is the function or ``subtraction``. Of
    ``WEIGHTED`` they are those of losses, weights and products.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class LossInputRecord:
    """What a loss that is trained was given in one batch: its values, and the operation that made them.

    Args:
        step: Optimizer steps made before.
        loss: Name of the loss function, or ``difference`` where the loss was written by hand.
        place: Line of the loss; None where it was read from the graph.
        source: Operation that made the input, such as ``sigmoid``; empty for one that is not told apart.
        inner: Operation that made the source's own input, in the same words; for a logarithm before any weights.
        producer: Path of the module that made it, when it was seen.
        producer_place: Line that made it, when it was seen.
        num_classes: Size of the class dimension; 0 where the loss has none.
        rows: Samples looked at.
        low: Least value of the input.
        high: Greatest value of the input.
        sum_error: Largest distance of a sum over the classes from 1; NaN where not measured, as all below.
        log_error: Largest distance from 0 of the logarithm of a sum of exponentials over the classes.
        log_above: Whether a logarithm was taken before the last multiplications and additions.
        partial: Whether only some of what the source gave came to the loss, or several sources were joined.
        single: Whether a softmax over a single value made it.
        at_limits: Share of values that a clamp holds at its limits.
        outside: Share of targets that lie outside the range of the source.
        range_low: Least value that the source can give.
        range_high: Greatest value that the source can give.
        target_low: Least target.
        target_high: Greatest target.
        bootstrapped: Whether the target is data plus a share of an output, through which the same weights learn.
    """

    step: int
    loss: str
    place: Place | None
    source: str = ""
    inner: str = ""
    producer: str | None = None
    producer_place: Place | None = None
    num_classes: int = 0
    rows: int = 0
    low: float = math.nan
    high: float = math.nan
    sum_error: float = math.nan
    log_error: float = math.nan
    log_above: bool = False
    partial: bool = False
    single: bool = False
    at_limits: float = math.nan
    outside: float = math.nan
    range_low: float = -math.inf
    range_high: float = math.inf
    target_low: float = math.nan
    target_high: float = math.nan
    bootstrapped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftmaxAxisRecord:
    """In one forward a softmax normalised over a dimension that nothing asks for.

    Args:
        step: Optimizer steps made before.
        function: ``softmax`` or ``log_softmax``.
        reason: ``batch`` for the dimension of the samples, ``weights`` where the weighted sum that follows goes over
            another one, ``single`` where there is but one value to normalise over and the sum goes over another one,
            ``alone`` where there is but one value, whatever follows, ``picked`` where one value a row is picked along
            another one.
        dim: The dimension it normalised over.
        wanted: The dimension of the weighted sum, or of the pick; None for ``batch`` and ``alone``.
        shape: Shape of its output.
        module: Path of the module that it stands in.
        place: Line that called it.
    """

    step: int
    function: str
    reason: str
    dim: int
    wanted: int | None
    shape: tuple[int, ...]
    module: str | None
    place: Place | None
