"""This file is the wanted gradients: whether a backward was made for something besides the weights of optimizers."""

from typing import Any

from torch import nn

from torchmagic.probes.cast import Cast
from torchmagic.probes.graph_walk import leaves, walk
from torchmagic.probes.members import present
from torchmagic.probes.module_parts import modules_of

OF_MODULES, OF_TENSORS = ("_backward_hooks", "_backward_pre_hooks"), ("_backward_hooks", "_post_accumulate_grad_hooks")


class WantedGradients:
    """What is known of the last backward: whether inputs got gradients, hooks saw them, or their norm was taken."""

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self.by_others = True  # until a backward was looked at

    def look(self, tensors: Any) -> None:
        """Look at a backward that begins."""
        nodes, complete = walk(tensors)
        owned = {id(ref()) for each in present(self._cast.optimizers) for ref in each.refs}
        found = list(leaves(nodes))
        self.by_others = (
            not complete
            or any(id(leaf) not in owned or _is_heard(leaf, OF_TENSORS) for leaf in found)
            or any(_is_heard(part, OF_MODULES) for part in self._modules())
        )

    def clipped(self, total: Any) -> None:
        """Take in that a norm of gradients was taken, and may have been all that was wanted."""
        self.by_others = True

    def _modules(self) -> list[nn.Module]:
        alive = [module for each in present(self._cast.models) if (module := each.ref()) is not None]
        return [part for module in alive for part in modules_of(module)]


def _is_heard(owner: Any, places: tuple[str, ...]) -> bool:
    return any(getattr(owner, place, None) for place in places)
