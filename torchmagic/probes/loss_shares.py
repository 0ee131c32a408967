"""This file is the shares of a loss: what trainers divide because the gradients of several batches make one step."""

from typing import Any, NamedTuple

import torch

from torchmagic.probes.graph_walk import saved_tensor

# Nodes that divide and multiply; so many are looked at, as trainers that use each other divide by 1 as well.
SCALING = ("DivBackward0", "MulBackward0")
MOST_LOOKED_AT = 4
# Losses held within a step; a loop that never steps gets them as they are from there on.
MOST_HELD = 256
# What a number that was written in Python makes of these says that it was no tensor.
_WHOLE, _REAL = torch.tensor(1, dtype=torch.int8), torch.tensor(1.0, dtype=torch.float16)

# The value of a loss: a number, or where it lies on a device a tensor.
Value = float | torch.Tensor


class Divisor(NamedTuple):
    """By what a loss was divided last: a number, or a tensor, which is held till the step's end."""

    number: int = 0
    tensor: torch.Tensor | None = None


class Shares:
    """Puts losses together again that were divided, so that the gradients of several batches can be added up.

    A loss that was divided by the number 4 is four times as large, once several backwards of one name made a step.
    Where several were divided by the same tensor, such as the number of all tokens of a step, the loss is their sum.
    What is divided in a step with one backward is a loss as it is.
    """

    def __init__(self) -> None:
        self._held: dict[tuple[str], list[tuple[Divisor, Value]]] = {}
        self._gathered: set[str] = set()
        self._whole: set[str] = set()
        self._num_held = 0

    def divisor(self, name: str, loss: torch.Tensor) -> Divisor | None:
        """Return by what a loss was divided; None for one that is to be taken as it is."""
        if name in self._whole or self._num_held >= MOST_HELD:
            return None
        node: Any = loss.grad_fn
        for _ in range(MOST_LOOKED_AT):
            by = saved_tensor(node, "_raw_saved_other") if node is not None and node.name() in SCALING else None
            if by is None or by.numel() != 1:
                return None
            written = by.item() if _is_written(by) else 0
            if written != 1:
                return _divisor(by, written) if node.name() == SCALING[0] else None
            node = node.next_functions[0][0]
        return None

    def hold(self, name: tuple[str], divisor: Divisor, value: Value) -> None:
        """Keep a share until the step's end."""
        self._held.setdefault(name, []).append((divisor, value))
        self._num_held += 1

    def take(self) -> list[tuple[tuple[str], Value]]:
        """Return the losses of the step, and forget its shares."""
        held, self._held, self._num_held = self._held, {}, 0
        return [(name, value) for name, shares in held.items() for value in self._losses(name[0], shares)]

    def _losses(self, name: str, shares: list[tuple[Divisor, Value]]) -> list[Value]:
        if any(divisor.number for divisor, _ in shares) and name not in self._gathered:
            (self._gathered if len(shares) > 1 else self._whole).add(name)
        sums: dict[int, Value] = {}
        losses: list[Value] = []
        for (number, tensor), value in shares:
            if tensor is None:
                losses.append(value * number if name in self._gathered else value)
            else:
                where = tensor.data_ptr()
                sums[where] = sums[where] + value if where in sums else value
        return [*losses, *sums.values()]


def undivided(node: Any) -> Any:
    """Return the node behind those that divide or multiply by the number 1, as trainers do that gather no gradients."""
    for _ in range(MOST_LOOKED_AT):
        by = saved_tensor(node, "_raw_saved_other") if node is not None and node.name() in SCALING else None
        if by is None or by.numel() != 1 or not _is_written(by) or by.item() != 1:
            break
        node = node.next_functions[0][0]
    return node


def _divisor(by: torch.Tensor, written: float) -> Divisor | None:
    """Return a divisor: a tensor, or a whole number."""
    if not written:
        return Divisor(tensor=by)
    return Divisor(number=int(written)) if written > 1 and float(written).is_integer() else None


def _is_written(by: torch.Tensor) -> bool:
    """Whether a tensor that a node saved stands for a number of Python."""
    if by.dtype is torch.int64:
        return torch.result_type(_WHOLE, by) is torch.int8
    return by.dtype is torch.float64 and torch.result_type(_REAL, by) is torch.float16
