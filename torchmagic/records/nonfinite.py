"""This file is the non-finite value: where NaN or Inf was born."""

from dataclasses import dataclass
from enum import StrEnum

from torchmagic.records.place import Place


class Birth(StrEnum):
    """What turned finite numbers into non-finite ones."""

    INPUT = "input"
    FORWARD = "forward"
    GRADIENT = "gradient"
    PARAMETER = "parameter"
    BUFFER = "buffer"
    UPDATE = "update"


class Direction(StrEnum):
    """On which way through a step a value broke."""

    INPUT = "input"
    FORWARD = "forward"
    BACKWARD = "backward"
    UPDATE = "update"


class Cause(StrEnum):
    """Why an operator's answer is not finite."""

    LOG_OF_ZERO = "log of zero"
    LOG_OF_NEGATIVE = "log of a negative number"
    ZERO_OVER_ZERO = "zero over zero"
    DIVISION_BY_ZERO = "division by zero"
    NORM_AT_ZERO = "norm at zero"
    SQRT_AT_ZERO = "slope of the square root at zero"
    SQRT_OF_NEGATIVE = "square root of a negative number"
    POWER = "power out of range"
    EXP_OVERFLOW = "exponential overflows"
    MASKED_ROW = "softmax over a row of minus infinities"
    SINGLE_ELEMENT = "spread of one element"
    MASK_LEAK = "gradient leaks through a mask"
    HALF_OVERFLOW = "float16 overflows"
    OVERFLOW = "overflow"
    EMPTY_REDUCTION = "reduction of nothing"
    NO_TARGETS = "all targets are ignored"
    BAD_DATA = "data are not finite"
    BAD_CONSTANT = "a constant is not finite"
    BAD_STATE = "optimizer state is not finite"
    EXPLODED_WEIGHTS = "weights exploded"
    OUT_OF_DOMAIN = "argument out of the function's domain"
    INFINITY_MINUS_INFINITY = "infinity minus infinity"
    ZERO_TIMES_INFINITY = "zero times infinity"
    SINGULAR_MATRIX = "singular matrix"
    REPEATED_VALUES = "singular values or eigenvalues that are equal"
    LONG_TARGET = "target longer than its input"
    CHANGED_GRADIENT = "gradients changed after the backward"
    OWN_BACKWARD = "backward of a custom function"
    UNKNOWN = "unknown"


DIRECTIONS = {
    Birth.INPUT: Direction.INPUT,
    Birth.FORWARD: Direction.FORWARD,
    Birth.GRADIENT: Direction.BACKWARD,
    Birth.PARAMETER: Direction.INPUT,
    Birth.BUFFER: Direction.INPUT,
    Birth.UPDATE: Direction.UPDATE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NonfiniteRecord:
    """The origin of a non-finite value.

    Args:
        birth: What it was.
        step: Optimizer steps made before.
        model: Name of the model.
        module: Path of the innermost module at the origin, None outside any.
        parameter: Parameter with a non-finite gradient or value, nearest to the origin; the buffer that has one.
        op: Operator at the origin, such as ``log``; for a gradient the node, such as ``SqrtBackward0``.
        place: Line at the origin; for a gradient the line whose derivative it is.
        num_nan: NaN in the first non-finite tensor.
        num_inf: Infinities in it.
        num_elements: Its elements.
        where: Which columns or elements, in words.
        operands: What the operator was given, in words.
        num_parameters: Parameters with a non-finite gradient.
        cause: Class of the cause.
        rows: First rows of the batch that hold bad data.
        empty_columns: How many columns of a table have no finite value at all.
        empty_rows: How many samples of a batch have none; 0 where all of them have none.
        began: Step at which the weights, or the gradients, began to explode; None where they did not.
        proven: Whether a replay showed the operator, or that none was to blame; otherwise it was concluded from names
            in the graph.
        evaluation: Number of the evaluation in which it was seen, from 1 on; None in training.
        state: What the optimizer remembers for the parameter and is not finite, such as ``exp_avg_sq``.
        optimizer: Class of that optimizer.
        without_loss: Whether no loss of the step was seen, so that nobody knows whether it was finite.
        silences: Whether that state is infinite where the update is divided by it, so that the update is zero.
    """

    birth: Birth
    step: int
    model: str | None = None
    module: str | None = None
    parameter: str | None = None
    op: str | None = None
    place: Place | None = None
    num_nan: int = 0
    num_inf: int = 0
    num_elements: int = 0
    where: str = ""
    operands: str = ""
    num_parameters: int = 0
    cause: Cause = Cause.UNKNOWN
    rows: tuple[int, ...] = ()
    empty_columns: int = 0
    empty_rows: int = 0
    began: int | None = None
    proven: bool = False
    evaluation: int | None = None
    state: str | None = None
    optimizer: str | None = None
    without_loss: bool = False
    silences: bool = False

    @property
    def direction(self) -> Direction:
        """On which way through the step the value broke."""
        return DIRECTIONS[self.birth]
