"""This file is the reach: which parameters a loss touches."""

from dataclasses import dataclass

from torchmagic.records.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachRecord:
    """The parameters that the graph above a loss ends at; recorded again at the same line only when it changed.

    Names are bounded, numbers are not.

    Args:
        loss: Name of the loss.
        place: Line that calls ``backward``.
        step: Optimizer steps made before.
        has_graph: Whether there is a graph at all; where not, ``backward`` raises.
        num_nodes: Nodes of the graph.
        num_reached: Parameters that the graph reaches, whoever owns them.
        models: Models of which it reaches a parameter.
        unreached: Trainable parameters of those models that it does not reach.
        num_unreached: How many these are.
        frozen: Parameters of those models that require no gradient.
        num_frozen: How many these are.
        untouched: Models that ran with gradients on since the last step, and of which it reaches nothing; only where it
            reaches no tensor that belongs to no model.
        num_other_leaves: Leaves that require a gradient and are no known parameter, such as inputs.
        opaque: Functions in the graph that are written in Python. One that recomputes, as activation checkpointing
            does, may reach more than the graph shows: with it nothing is called unreached or untouched.
        flat: Operators whose slope is zero everywhere, such as ``round``, where every way to some leaf ends at one;
            ``mul`` is a multiplication by zeros, ``div`` a division that rounds.
        flattened: Parameters to which every way ends so, where that is not all of them.
    """

    loss: str
    place: Place | None
    step: int
    has_graph: bool
    num_nodes: int
    num_reached: int
    models: tuple[str, ...]
    unreached: tuple[str, ...]
    num_unreached: int
    frozen: tuple[str, ...]
    num_frozen: int
    untouched: tuple[str, ...]
    num_other_leaves: int
    opaque: tuple[str, ...]
    flat: tuple[str, ...] = ()
    flattened: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivativeRecord:
    """A line takes a model's derivative without a graph of it, in steps whose loss reaches the same model.

    Args:
        place: Line that asks ``torch.autograd.grad`` for it; of something else than the weights.
        loss: Name of the loss.
        step: Optimizer steps made before the first.
        count: Steps, of those that were looked at, in which it was so.
    """

    place: Place | None
    loss: str
    step: int
    count: int
