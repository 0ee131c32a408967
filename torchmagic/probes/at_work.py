"""This file is who is at work: the optimizers that step by turns, and what is known of each until others take over."""

from collections.abc import Callable
from typing import Any

from torchmagic.probes.members import Optimizer

# Up to so many are all taken to be at work, however seldom they step. A search or a population has hundreds, which are
# trained one after the other: of them, those that stepped within so many steps.
FEW, RECENT = 8, 64


class AtWork:
    """The optimizers that step by turns; those that others have long stepped in place of are out, as are those gone.

    Attributes:
        members: Those at work, in the order in which they came.
        stand_ins: What stands for one where a loop steps by hand.
    """

    def __init__(self) -> None:
        self.members: list[Optimizer] = []
        self.stand_ins: list[Optimizer] = []
        self.steps = 0  # of all
        self._notes: list[tuple[dict[int, Any], Callable[[Any], None] | None]] = []

    @property
    def steppers(self) -> list[Optimizer]:
        """All of them."""
        return [*self.members, *self.stand_ins]

    @property
    def stepped(self) -> dict[int, str]:
        """The names of all tensors that they step, by identity."""
        return {id(ref()): name for each in self.steppers for name, ref in zip(each.names, each.refs, strict=True)}

    def names_beside(self, optimizer: Any) -> set[str]:
        """Return the names of optimizers that train other tensors than one does."""
        own = {id(tensor) for group in optimizer.param_groups for tensor in group["params"]}
        apart = [each for each in self.members if own.isdisjoint(id(ref()) for ref in each.refs)]
        return {each.name for each in apart if each.ref() is not None}

    def notes(self, part: Callable[[Any], None] | None = None) -> dict[int, Any]:
        """Return a dict for what is known of each, by identity; it loses what it has of one that is out.

        Args:
            part: Is given what was known of one that is out.
        """
        notes: dict[int, Any] = {}
        self._notes.append((notes, part))
        return notes

    def step(self, entry: Optimizer) -> None:
        """Take note that an optimizer steps; one that was out is new again."""
        self.steps += 1
        entry.last_step = self.steps
        if entry.is_out:
            entry.is_out = False
            oldest = self.steps - RECENT if len(self.members) >= FEW else 0
            for other in [each for each in self.members if each.ref() is None or each.last_step < oldest]:
                self._leave(other)
            self.members.append(entry)

    def _leave(self, entry: Optimizer) -> None:
        entry.is_out = True
        self.members.remove(entry)
        for notes, part in self._notes:
            known = notes.pop(id(entry), None)
            if known is not None and part is not None:
                part(known)
