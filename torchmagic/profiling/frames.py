"""This file is the frames of one thread's stack: what runs, what is within it, and until when."""

from dataclasses import dataclass, field

from torchmagic.profiling.contexts import Cell, Context
from torchmagic.profiling.noted import Batch, OpenModule

# What they allocate is their caller's.
_FACTORIES = frozenset(
    "aten::" + name
    for name in (
        "empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "resize_", "zeros", "zeros_like",
        "new_zeros", "ones_like", "full", "full_like", "clone", "contiguous", "_to_copy", "to",
    )
)  # fmt: skip

# What runs: its end, what it is summed in, and the place of what is within it.
Frame = tuple[int, Cell, Context]


@dataclass(slots=True, eq=False)
class Thread:
    """One thread's stack, and what went before in it."""

    stack: list[Frame]
    origins: dict[int, Context] = field(default_factory=dict)
    last_node: Context | None = None
    modules: OpenModule | None = None
    wait: Batch | None = None
    counted: int = 0
    counted_until: int = 0
    counter: Cell | None = None


def tell_apart(alike: list[tuple[Frame, int]], top: Frame, start: int) -> None:
    """Count an operator twice after all that calls another form of itself, as soon as it calls something else too.

    One that does nothing but that is one call, in torch's tables as here.

    Args:
        alike: Operators under way whose first call was another form of themselves, and how long that took.
        top: What calls now.
        start: When.
    """
    while alike and alike[-1][0][0] <= start:
        alike.pop()
    if alike and alike[-1][0] is top:
        _, duration = alike.pop()
        top[1].calls += 1
        top[1].total += duration


def owner_in(stack: list[Frame]) -> Cell:
    """Return what an allocation is for: the innermost operator that does more than make room."""
    for _, cell, _ in reversed(stack):
        if not cell.operator:
            break
        if cell.name not in _FACTORIES:
            return cell
    return stack[-1][1]


def cut(stack: list[Frame], start: int, end: int) -> Frame:
    """Take off frames that end within the next event; what they have in common is the next event's."""
    while stack[-1][0] < end:
        ended, cell, _ = stack.pop()
        cell.own -= ended - start
        stack[-1][1].own += ended - start
    return stack[-1]
