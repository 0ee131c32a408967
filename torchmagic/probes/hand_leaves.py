"""This file is the leaves of a loop that steps by hand: which tensors it trains, and how they were at its backward."""

import gc
import weakref
from collections.abc import Mapping, Sequence

import torch

from torchmagic.probes.cast import Cast
from torchmagic.probes.members import ByHand
from torchmagic.probes.names import within
from torchmagic.probes.weak_table import WeakTable
from torchmagic.tensors.marks import Marks

# Tensors that are followed.
MOST_LEAVES = 1024


class HandLeaves:
    """Follows what a loop trains, under the names that the user has for it.

    Args:
        cast: What the tensors are called.

    Attributes:
        stands: Stands for the optimizer that the loop does without.
        marks: How the leaves were when the newest backward ended; None while no step is waited for.
        built: Optimizers that were made while the run was open.
    """

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self.stands = ByHand()
        self._places: list[int] = []
        self.marks: Marks | None = None
        self.built: WeakTable[torch.optim.Optimizer, None] = WeakTable()

    @property
    def present(self) -> list[torch.Tensor]:
        """Those that are still there."""
        return self.stands.leaves

    @property
    def are_gone(self) -> bool:
        """Whether one of them is not there any more."""
        return len(self.stands.leaves) < len(self.stands.refs)

    @property
    def names(self) -> tuple[str, ...]:
        """What they are called."""
        return self._cast.optimizer(self.stands).names

    def follow(self, leaves: Sequence[torch.Tensor]) -> None:
        """Follow these, and no others, in the order of their names."""
        places = {id(leaf): place for place, leaf in enumerate(leaves[:MOST_LEAVES])}
        self.stands.refs = [weakref.ref(leaf) for leaf in leaves[:MOST_LEAVES]]
        self._cast.stand_in(self.stands)
        self._places = [places[id(leaf)] for leaf in self.present]

    def move_to(self, others: Sequence[torch.Tensor]) -> None:
        """Follow what a step made of these, in their order and under their names."""
        entry = self._cast.optimizer(self.stands)
        if len(others) != len(entry.names):
            self.follow(others)
            return
        self.stands.refs = [weakref.ref(leaf) for leaf in others]
        entry.refs = list(self.stands.refs)

    def in_order(self, others: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
        """Return tensors that come as the leaves came, in the order in which these are followed."""
        return [others[place] for place in self._places] if len(others) == len(self._places) else others

    def follow_only_new(self, leaves: Sequence[torch.Tensor]) -> bool:
        """Follow these beside those known; whether there were any that were not."""
        known = self.present
        met = {id(leaf) for leaf in known}
        new = [leaf for leaf in leaves if id(leaf) not in met]
        if not new or len(known) + len(new) > MOST_LEAVES:
            return False
        self.follow([*known, *new])
        return True

    def mark(self, slopes: Mapping[int, torch.Tensor] | None) -> None:
        """Remember how they are.

        Args:
            slopes: Their gradients by identity, None for those in ``.grad``.
        """
        if self.are_gone:
            self.follow(self.present)
        leaves = self.present
        self.marks = Marks(leaves, None if slopes is None else [slopes.get(id(leaf)) for leaf in leaves])

    def have_changed(self) -> bool:
        """Whether they were changed in place since."""
        leaves = self.present
        return self.marks is not None and len(leaves) == len(self.marks) and self.marks.differ_from(leaves)

    def of_names(self) -> list[torch.Tensor]:
        """Return what has their names now, where that is other tensors."""
        held = self._cast.names.tensors_of(self.names) if self.marks is not None else []
        return held if {id(each) for each in held}.isdisjoint(map(id, self.present)) else []

    def are_owned(self) -> bool:
        """Whether an optimizer that is known holds one of them."""
        named = [within(each) for _, each in self._cast.names.of_kind(torch.optim.Optimizer)]
        known = [*(each for each, _ in self.built.items()), *named]
        held = {id(each) for one in known for group in one.param_groups for each in group["params"]}
        return any(id(leaf) in held for leaf in self.present)

    def are_grouped(self) -> bool:
        """Whether the first is in a group of parameters, as an optimizer holds one, though nobody has a name for it."""
        first = self.present[:1]
        lists = [holder for holder in gc.get_referrers(*first) if type(holder) is list] if first else []
        # each call looks at every object there is, so that all lists are asked for together
        groups = [holder for holder in gc.get_referrers(*lists) if type(holder) is dict] if lists else []
        return any(group.get("params") is held for group in groups for held in lists)
