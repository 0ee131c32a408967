"""This file tells whether prediction and target were stretched against each other, by their shapes and their graph."""

from typing import Any

import torch

from torchmagic.probes.producers import source_node

# Nodes looked at between a loss and its subtraction: mean, power, absolute value, a weight, another term.
MOST_NODES = 32
# What leaves each element by itself until all are added up: what compares all pairs on purpose does more with them.
ELEMENTWISE = ("Mean", "Sum", "Pow", "Abs", "Mul", "Div", "Sqrt", "Add", "Sub", "Neg")


def has_stretched_subtraction(loss: torch.Tensor) -> bool:
    """Whether the nodes nearest to a loss hold prediction minus target, each row with all rows."""
    queue: list[tuple[Any, bool]] = [(loss.grad_fn, True)]
    for _ in range(MOST_NODES):
        if not queue:
            return False
        node, plain = queue.pop(0)
        above = [parent for parent, _ in node.next_functions if parent is not None] if node is not None else []
        subtracts = node is not None and node.name() in ("SubBackward0", "RsubBackward1") and len(above) == 1
        if subtracts and "Unsqueeze" not in above[0].name():
            given, joint = _shape(above[0]), _shape(node)
            if _is_square(given, joint) or (plain and _is_multiplied(given, joint)):
                return True
        plain = plain and node is not None and node.name().startswith(ELEMENTWISE)
        queue.extend((parent, plain) for parent in above)
    return False


def is_stretched(given: torch.Tensor, target: torch.Tensor, difference: torch.Tensor) -> bool:
    """Whether a subtraction compared each row of a prediction with all rows of its target, and nobody asked for it."""
    if _made_wider(given):
        return False
    if _is_square(given.shape, difference.shape):
        return True
    alike = [each for each in given.shape if each != 1] == [each for each in target.shape if each != 1]
    return alike and difference.numel() > given.numel() and not _is_wider_view(target)


def is_square_of(given: torch.Size, target: torch.Size) -> bool:
    """Whether N predictions, in one column, meet N targets for each of them."""
    rows = given.numel()
    return rows > 1 and given in ((rows,), (rows, 1)) and target == (rows, rows)


def _shape(node: Any) -> torch.Size:
    return torch.Size(node._input_metadata[0].shape)


def _is_square(given: torch.Size, joint: torch.Size) -> bool:
    """Whether N values, or N rows of one, became an N by N square; other stretches can be meant."""
    if joint.numel() <= given.numel() or len(joint) < 2:  # noqa: PLR2004 - a square has two sides
        return False
    return joint[-1] == joint[-2] == given.numel() and joint.numel() == given.numel() ** 2


def _is_multiplied(given: torch.Size, joint: torch.Size) -> bool:
    """Whether one of its dimensions may have met itself."""
    return joint.numel() > given.numel() and any(joint.numel() == given.numel() * each for each in given)


def _made_wider(tensor: torch.Tensor) -> bool:
    """Whether the user put the dimension of one there on purpose, as for all pairs."""
    node = source_node(tensor, stop=("Unsqueeze",))
    return node is not None and "Unsqueeze" in node.name()


def _is_wider_view(tensor: torch.Tensor) -> bool:
    """Whether a tensor shows another one with dimensions of one put in between."""
    base = tensor._base
    return base is not None and base.dim() < tensor.dim()
