"""This file is the record of many tensors in one object: a list, a batch, a state dict, an optimizer."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """One tensor of a tree; the numbers are None where it has no finite value or was not measured."""

    path: str
    kind: str
    shape: tuple[int, ...]
    dtype: str
    device: str
    num_bytes: int
    is_measured: bool = False
    min: float | None = None
    max: float | None = None
    mean: float | None = None
    num_nonfinite: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorTree:
    """Plain facts about the tensors in an object.

    Args:
        name: What the user calls it.
        kind: Its class.
        facts: Pairs of a name and a value that are no tensors, such as a learning rate.
        leaves: The first tensors, in order.
        num_tensors: All of them; one that is found twice counts once.
        num_elements: Of all.
        num_bytes: Of all elements.
        storage_bytes: Of all memory blocks that they lie in, each counted once.
        bytes_by_dtype: (dtype, bytes), most first.
        num_nonfinite: NaN and infinite values in those that were measured.
        notes: What a reader has to know.
    """

    name: str
    kind: str
    facts: tuple[tuple[str, str], ...] = ()
    leaves: tuple[Leaf, ...] = ()
    num_tensors: int = 0
    num_elements: int = 0
    num_bytes: int = 0
    storage_bytes: int = 0
    bytes_by_dtype: tuple[tuple[str, int], ...] = ()
    num_nonfinite: int = 0
    notes: tuple[str, ...] = ()
