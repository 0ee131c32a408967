"""This file tells by the name of an event what it is, and where what happens within it belongs."""

from collections.abc import Sequence
from dataclasses import dataclass

from torchmagic.profiling.collected import BATCH, LAUNCH, LINE, MEMORY, MODULE, PHASE, ModuleSite
from torchmagic.profiling.contexts import Cell, Chain, Context, Contexts, Moves
from torchmagic.profiling.flops import FORMULAS
from torchmagic.profiling.ordered import NODE

ACCUMULATE = NODE + "torch::autograd::AccumulateGrad"
# torch's own ranges, and their phases.
_PHASES = {"enumerate(DataLoader)#": "data", "Optimizer.step#": "optimizer", "Optimizer.zero_grad#": "optimizer"}
_PREFIXES = {
    NODE: Moves.NODE,
    MEMORY: Moves.MEMORY,
    BATCH: Moves.BATCH,
    **dict.fromkeys((LINE, MODULE, PHASE, *_PHASES), Moves.ALWAYS),
    "enumerate(DataLoader)#": Moves.WAIT,
}
# They are made by nobody's backward, and the next node's number is theirs too.
_READS = frozenset({"aten::item", "aten::_local_scalar_dense"})


@dataclass(frozen=True, slots=True, eq=False)
class Meanings:
    """What names mean in one profile.

    Args:
        contexts: Its places.
        sites: Its modules.
        copies: Whether anything was copied to an accelerator.
    """

    contexts: Contexts
    sites: Sequence[ModuleSite]
    copies: bool

    def door(self, context: Context, name: str, *, caller: Cell, makes_node: bool) -> Cell:
        """Return what events of a name do at a place.

        Args:
            context: The place.
            name: The name.
            caller: What is around the event.
            makes_node: Whether the event bears the number of a node.
        """
        moves, inner = self._moves(context, name)
        operator = moves in {Moves.NOTHING, Moves.NODE, Moves.LOOSE, Moves.COPY}
        # A range that the user put around code has neither a namespace nor a node.
        operator = operator and ("::" in name or makes_node or caller.operator or bool(LAUNCH.fullmatch(name)))
        return Cell(name, context, operator=operator, moves=moves, inner=inner, counts=name in FORMULAS)

    def _moves(self, context: Context, name: str) -> tuple[Moves, Context | None]:
        prefix = next((each for each in _PREFIXES if name.startswith(each)), None)
        if prefix is not None:
            inner = self._inner(context, prefix, name.removeprefix(prefix))
            return _PREFIXES[prefix], inner
        if self.copies and name == "aten::copy_":
            return Moves.COPY, None
        loose = context.main and context.phase == "other" and context.modules.index < 0 and name not in _READS
        return (Moves.LOOSE if loose else Moves.NOTHING), None

    def _inner(self, context: Context, prefix: str, rest: str) -> Context | None:
        """Return where what is within a range belongs, where that is always the same."""
        if prefix == LINE:
            return self.contexts.at_line(context, int(rest))
        if prefix == MODULE:
            return self.contexts.in_module(context, self._chain(context, int(rest)))
        phase = rest if prefix == PHASE else _PHASES.get(prefix)
        return self.contexts.in_phase(context, phase) if phase else None

    def _chain(self, context: Context, index: int) -> Chain:
        """Return a module and those around it; where a backward runs forwards again, by their paths."""
        outer = context.modules
        if context.backward:
            around = (each for each in outer if each.index < 0 or self._is_within(index, each.index))
            outer = next(around)
        return outer.within(index)

    def _is_within(self, inner: int, outer: int) -> bool:
        within, around = self.sites[inner], self.sites[outer]
        if within.model != around.model or inner == outer:
            return False
        return not around.path or within.path.startswith(around.path + ".")
