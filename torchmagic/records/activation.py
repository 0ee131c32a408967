"""This file is what modules take and give: shapes, dtypes and devices of their inputs and outputs."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorFacts:
    """What a tensor is, without its values: shape, dtype and device."""

    shape: tuple[int, ...]
    dtype: str
    device: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivationRecord:
    """An innermost module at the first training forward seen of it: its path, class, inputs and outputs.

    Inputs are those given by position; of nests of tuples and dicts the first tensors are told.
    """

    module: str
    class_name: str
    inputs: tuple[TensorFacts, ...]
    outputs: tuple[TensorFacts, ...]
