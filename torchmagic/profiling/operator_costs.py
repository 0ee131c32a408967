"""This file is what each operator cost in each phase, over all places."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from torchmagic.profiling.collected import Collected, ModuleSite
from torchmagic.profiling.contexts import Cell, Context, Contexts
from torchmagic.profiling.flops import is_heavy
from torchmagic.records.costs import OperatorCost
from torchmagic.records.place import Place

_NANO = 1e-9
# An operator whose operations nobody counts is worth a word from this share of the window on.
LEAST_SHARE = 0.01


@dataclass(slots=True)
class _Sum:
    calls: int = 0
    total: int = 0
    own: int = 0
    device: int = 0
    flops: int = 0
    allocated: int = 0
    modules: Counter[int] = field(default_factory=Counter)
    lines: Counter[int] = field(default_factory=Counter)

    def add(self, cell: Cell) -> None:
        self.calls += cell.calls
        self.total += cell.total
        self.own += cell.own
        self.device += cell.device
        self.flops += cell.flops
        self.allocated += cell.allocated
        weight = cell.own + cell.device
        self.modules[cell.context.modules.index] += weight
        self.lines[line_of(cell.context)] += weight


def operator_costs(
    collected: Collected, contexts: Contexts, *, device: bool, flops: bool, memory: bool
) -> tuple[OperatorCost, ...]:
    """Return what each operator cost, the dearest first; those within reading data or an optimizer included.

    Args:
        collected: The modules and lines.
        contexts: What ran, by place.
        device: Whether there are kernels.
        flops: Whether operations were counted.
        memory: Whether allocations were noted down.
    """
    found: dict[tuple[str, str, str, str], _Sum] = {}
    for cell in operators(contexts):
        found.setdefault((cell.name, cell.context.phase, cell.shapes, cell.dtype), _Sum()).add(cell)
    costs = [
        OperatorCost(
            name=name,
            phase=phase,
            calls=each.calls,
            total=each.total * _NANO,
            own=each.own * _NANO,
            device=each.device * _NANO if device else None,
            shapes=shapes,
            dtype=dtype,
            flops=each.flops if flops else None,
            allocated=each.allocated if memory else None,
            module=_module(collected, each.modules),
            place=_place(collected, each.lines),
        )
        for (name, phase, shapes, dtype), each in found.items()
    ]
    return tuple(sorted(costs, key=lambda cost: (-(cost.device or 0.0), -cost.own)))


def operators(contexts: Iterable[Context]) -> Iterable[Cell]:
    """Return the sums of operators that ran, ranges left out."""
    return (cell for each in contexts for cell in each.cells.values() if cell.operator and cell.calls)


def uncounted(contexts: Contexts, least: float) -> tuple[str, ...]:
    """Return the names of operators that compute much, took at least so many nanoseconds, and have no count."""
    spent, counted = Counter[str](), Counter[str]()
    for cell in operators(contexts):
        spent[cell.name] += cell.own + cell.device
        counted[cell.name] += cell.flops
    return tuple(name for name, time in spent.most_common() if time >= least and not counted[name] and is_heavy(name))


def line_of(context: Context) -> int:
    """Return the line to which what runs at a place is put down: in the backward, that of its forward."""
    return context.source if context.backward and context.source >= 0 else context.lines.index


def module_name(site: ModuleSite) -> str:
    """Return a module's path after the model's name, such as ``net.block.0``."""
    return f"{site.model}.{site.path}" if site.path else site.model


def _module(collected: Collected, weights: Counter[int]) -> str:
    index = weights.most_common(1)[0][0]
    return module_name(collected.modules[index]) if index >= 0 else ""


def _place(collected: Collected, weights: Counter[int]) -> Place | None:
    index = weights.most_common(1)[0][0]
    return collected.places[index] if index >= 0 else None
