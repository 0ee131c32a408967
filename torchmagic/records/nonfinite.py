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


@dataclass(frozen=True, slots=True, kw_only=True)
class NonfiniteRecord:
    """The origin of a non-finite value.

    Args:
        birth: What it was.
        step: Optimizer steps made before.
        model: Name of the model.
        module: Path of the innermost module at the origin, None outside any.
        parameter: Parameter with a non-finite gradient or value, nearest to the origin.
        op: Operator at the origin, such as ``log`` or ``SqrtBackward0``.
        place: Line at the origin.
        num_nan: NaN in the first non-finite tensor.
        num_inf: Infinities in it.
        num_elements: Its elements.
        where: Which columns or elements, in words.
        operands: What the operator was given, in words.
        num_parameters: Parameters with a non-finite gradient.
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
