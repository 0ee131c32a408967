"""This file is the memory: who holds it longer than the loop needs, and what of it could not be seen."""

from dataclasses import dataclass

from torchmagic.records.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class RetainedGraphRecord:
    """Graphs of earlier steps are still alive.

    Args:
        step: Optimizer steps made before.
        count: About how many graphs, made before the last two steps, are alive.
        oldest: The step in which the oldest of them was made.
        holders: Variables that hold them, as ``losses`` or ``trainer.history``; empty where none was found, as when a
            local variable of a function does.
        num_bytes: Bytes, at least, that these variables' graphs still keep for a backward beside the models' own; None
            where no variable was found.
        place: Line that keeps the graph of each iteration, by its text; else that of the backward.
    """

    step: int
    count: int
    oldest: int
    holders: tuple[str, ...]
    num_bytes: int | None
    place: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HolderRecord:
    """A tensor that the notebook keeps without the user's asking.

    Args:
        name: What keeps it: ``Out[3]``, ``_``, or function and variable of the last traceback, as ``forward.x``.
        keeper: ``output`` or ``traceback``.
        num_bytes: Bytes of its storage, and of what its graph keeps for a backward.
        shape: Its shape.
        dtype: Its dtype, without ``torch.``.
        device: Its device.
        has_graph: Whether it keeps an autograd graph alive.
        also: A top-level variable of the user's that holds the same storage; empty where nothing else does.
    """

    name: str
    keeper: str
    num_bytes: int
    shape: tuple[int, ...]
    dtype: str
    device: str
    has_graph: bool
    also: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnseenGraphRecord:
    """What the count of activations leaves out.

    Args:
        step: The step in which it was met.
        nodes: Nodes of the graph that keep tensors out of sight, such as those of activation checkpointing.
        complete: Whether the graph could be walked to its end; where not, no activations are counted.
    """

    step: int
    nodes: tuple[str, ...]
    complete: bool
