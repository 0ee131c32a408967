"""This file is the border: what a user may hand over as a tensor, and where the values lie in it."""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch

from torchmagic.tensors.presence import is_freed

_SPARSE = (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc)
# Of NumPy's kinds of numbers, the most bytes of one that torch takes, and what a wider or foreign one becomes.
_WIDEST = {"c": 16}
_NEAREST = {"c": "complex128", "M": "int64", "m": "int64"}


@runtime_checkable
class _Sharded(Protocol):
    """What DTensor has and no other tensor; its own module would bring torch.distributed in."""

    def to_local(self) -> torch.Tensor: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredValues:
    """The values of a tensor as a dense one that shares its memory; lives only while they are measured.

    Args:
        values: Dense values, detached; None where there are none to read.
        repeat: How often the tensor shows each of them.
        placed: Whether an index into ``values`` is also an index into the tensor.
        notes: What a reader has to know.
    """

    values: torch.Tensor | None
    repeat: int = 1
    placed: bool = True
    notes: tuple[str, ...] = ()


def as_tensor(value: Any) -> tuple[torch.Tensor, tuple[str, ...]]:
    """A tensor that shares memory with what was handed over.

    Args:
        value: A tensor, a parameter, a NumPy array (read-only ones too) or a NumPy number.

    Returns:
        The tensor, and notes about how it was made.

    Raises:
        TypeError: For anything else; one line says what came, what was wanted and what to do.
    """
    if isinstance(value, torch.Tensor):
        return value, ()
    if isinstance(value, np.ndarray | np.generic):
        return _from_numpy(np.asarray(value))
    raise TypeError(_refusal(value))


def stored_values(tensor: torch.Tensor) -> StoredValues:
    """The values to measure: those stored, for layouts that do not store all that they show."""
    if absent := _absent(tensor):
        return StoredValues(values=None, notes=(f"{absent} has no values",))
    plain = tensor.detach()
    if plain.is_nested:
        note = "nested: statistics are of the values of all its parts"
        return StoredValues(values=_of_parts(plain), placed=False, notes=(note,))
    if isinstance(plain, _Sharded):
        note = "distributed: statistics are of this rank's part"
        return StoredValues(values=plain.to_local(), placed=False, notes=(note,))
    if plain.layout in _SPARSE:
        return _sparse(plain)
    if plain.is_quantized or plain.layout != torch.strided:
        return _dense_copy(plain)
    return _without_repeats(plain)


def _absent(tensor: torch.Tensor) -> str:
    """Return what kind of tensor without values it is; empty for one that has some."""
    if tensor.device.type == "meta" or type(tensor).__name__ == "FakeTensor":
        return "a meta or fake tensor"
    return "a tensor whose memory was freed" if is_freed(tensor) else ""


def refuse_unmade(tensor: torch.Tensor) -> None:
    """Raise ``ValueError`` in one line for a lazy module's parameter or buffer before the first input."""
    if torch.nn.parameter.is_lazy(tensor):
        kind = type(tensor).__name__
        raise ValueError(f"{kind} has no shape and no values yet; call its model on a batch once, then look again")


def dense_values(tensor: torch.Tensor) -> torch.Tensor:
    """Return all values of a tensor as a dense one of its shape; layouts that store less are copied.

    Raises:
        ValueError: If it has no values to read, or no single shape.
    """
    refuse_unmade(tensor)
    if absent := _absent(tensor):
        raise ValueError(f"{absent} has no values to compare")
    plain = tensor.detach()
    if plain.is_nested or isinstance(plain, _Sharded):
        raise ValueError("nested and distributed tensors cannot be compared; compare their parts")
    if plain.is_quantized:
        return plain.dequantize()
    return plain if plain.layout == torch.strided else plain.to_dense()


def _from_numpy(array: np.ndarray[Any, Any]) -> tuple[torch.Tensor, tuple[str, ...]]:
    if array.dtype.kind not in "biufc" or array.dtype.itemsize > _WIDEST.get(array.dtype.kind, 8):
        raise TypeError(
            f"a NumPy array of dtype {array.dtype} has no counterpart in torch; "
            f"convert it first, for instance with .astype({_NEAREST.get(array.dtype.kind, 'float64')!r})"
        )
    notes: tuple[str, ...] = ()
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
        notes = ("copied, because torch takes only this machine's byte order",)
    elif any(stride < 0 or stride % array.itemsize for stride in array.strides):
        array = array.copy()
        notes = ("copied, because torch takes no strides that run backwards or cut through elements",)
    return torch.from_numpy(_seemingly_writeable(array)), notes


class _Memory:
    """An array's memory without its read-only mark; it keeps the array alive."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array
        address = array.__array_interface__["data"][0]
        self.__array_interface__ = {**array.__array_interface__, "data": (address, False)}


def _seemingly_writeable(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The same memory; torch warns, once a process, about read-only arrays, and nothing is written here."""
    return array if array.flags.writeable else np.asarray(_Memory(array))


def _of_parts(nested: torch.Tensor) -> torch.Tensor:
    """The values of a nested tensor's parts; the block that they lie in may have others between them."""
    if nested.layout == torch.jagged and nested.lengths() is not None:  # type: ignore[attr-defined] # of its class
        return torch.cat([part.reshape(-1) for part in nested.unbind()])
    return nested.values()


def _dense_copy(plain: torch.Tensor) -> StoredValues:
    if plain.is_quantized:
        return StoredValues(values=plain.dequantize(), notes=("quantised: statistics are of the dequantised values",))
    return StoredValues(values=plain.to_dense(), notes=(f"{plain.layout}: statistics are of a dense copy",))


def _without_repeats(plain: torch.Tensor) -> StoredValues:
    """Look at an expanded dimension once: its elements are the same memory."""
    repeat = 1
    values = plain
    if plain.numel():
        for dimension, (size, stride) in enumerate(zip(plain.shape, plain.stride(), strict=True)):
            if stride == 0 and size > 1:
                values = values.narrow(dimension, 0, 1)
                repeat *= size
    if repeat == 1:
        return StoredValues(values=values)
    return StoredValues(
        values=values, repeat=repeat, notes=(f"expanded: each stored value stands for {repeat:,} elements",)
    )


def _sparse(plain: torch.Tensor) -> StoredValues:
    is_coo = plain.layout == torch.sparse_coo
    # values() of a COO tensor refuses uncoalesced ones, and coalescing would copy.
    values = plain._values() if is_coo else plain.values()  # noqa: SLF001
    layout = str(plain.layout).removeprefix("torch.")
    notes = [f"{layout}: statistics are of {values.numel():,} stored values; {plain.numel():,} elements"]
    if is_coo and not plain.is_coalesced():
        notes.append("not coalesced: values of one place are stored, and measured, apart")
    return StoredValues(values=values, placed=False, notes=tuple(notes))


def _refusal(value: Any) -> str:
    came = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
    wanted = f"a tensor, a parameter or a NumPy array was wanted, {came} came"
    if isinstance(value, torch.nn.Module):
        names = [name for name, _ in value.named_parameters()]
        parameters = f"name one of its parameters, such as {names[0]}, or ask" if names else "ask"
        return f"{wanted}; {parameters} %modelinfo"
    if isinstance(value, torch.optim.Optimizer):
        return f"{wanted}; name a tensor in its state or in its param_groups"
    if isinstance(value, list | tuple | dict | set):
        return wanted + _choice(len(value))
    if isinstance(value, bool | int | float | complex):
        return f"{wanted}; pass torch.tensor({value!r}) if this number was meant"
    if callable(value):
        return f"{wanted}; pass the tensor that it returns"
    return f"{wanted}; pass torch.as_tensor(...) of it if it holds numbers"


def _choice(num_items: int) -> str:
    if not num_items:
        return ", and there is nothing in it; pass one that holds tensors"
    items = "its only item" if num_items == 1 else f"one of its {num_items:,} items"
    return f"; pick {items}, or pass torch.as_tensor(...) of it"
