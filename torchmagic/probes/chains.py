"""This file is the chains: variables whose graph each step makes longer, though no model's output is in it."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import torch

from torchmagic.probes.graph_walk import walk
from torchmagic.probes.variables import variables

# Nodes that are walked in one look, all variables together.
MOST_NODES = 4000
# Looks in a row that must find a graph longer, by a node a step at least, on the same end.
MOST_LOOKS = 4


class _Look(NamedTuple):
    """What the graph of a variable was at a step: how many nodes it had, and autograd's number of the oldest one."""

    step: int
    nodes: int
    oldest: int


class Chains:
    """Follows the graphs of the notebook's variables, as of weights that are averaged with their graph.

    Args:
        namespace: The user's names.
    """

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self._namespace = namespace
        self._looks: dict[str, list[_Look]] = {}

    def look(self, step: int) -> tuple[str, int] | None:
        """Return a variable whose graph grew from look to look, and the step of the first of these; else None."""
        known = {name: [*self._looks.get(name, ()), found] for name, found in self._now(step).items()}
        self._looks = {name: looks[-MOST_LOOKS:] for name, looks in known.items()}
        grown = (name for name, looks in self._looks.items() if len(looks) == MOST_LOOKS and _grows(looks))
        name = next(grown, None)
        return None if name is None else (name, self._looks[name][0].step)

    def _now(self, step: int) -> dict[str, _Look]:
        """Look at the first tensor of each variable, as long as there are not too many nodes in all."""
        left, found = MOST_NODES, dict[str, _Look]()
        for name, value in variables(self._namespace):
            if name in found or not isinstance(value, torch.Tensor) or value.grad_fn is None:
                continue
            nodes, complete = walk(value, most=left)
            if not complete:
                break
            left -= len(nodes)
            found[name] = _Look(step, len(nodes), min(node._sequence_nr() for node in nodes))
        return found


def _grows(looks: list[_Look]) -> bool:
    """Whether a graph got longer at its new end; one that is made anew at each step has another old end each time."""
    pairs = list(pairwise(looks))
    longer = all(later.nodes - before.nodes >= later.step - before.step > 0 for before, later in pairs)
    return longer and len({each.oldest for each in looks}) == 1
