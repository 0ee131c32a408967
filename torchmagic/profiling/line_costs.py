"""This file is what each line of the user's cost."""

from collections import Counter
from collections.abc import Mapping
from itertools import chain

from torchmagic.profiling.collected import LINE, Collected
from torchmagic.profiling.contexts import Cell, Contexts
from torchmagic.profiling.sums import Sums, sums
from torchmagic.records.costs import LineCost

_NANO = 1e-9
READ = "aten::_local_scalar_dense"
# What these read, they read for themselves: a step's number, a seed.
_THEIR_OWN = frozenset({"optimizer", "data"})


def line_costs(
    collected: Collected, contexts: Contexts, *, copies_back: Mapping[int, int], memory: bool
) -> tuple[LineCost, ...]:
    """Return what each line cost that ran, in the order of their files.

    ``total`` and ``own`` are of the thread that trains, so the line that calls ``backward`` has all of it there, and
    that of nodes whose line is known under ``elsewhere``, its own nodes' included; ``backward`` is, for each line, that
    of the nodes that it made.

    Args:
        collected: The lines.
        contexts: What ran, by place.
        copies_back: Copies from the accelerator, by line, reads of single values left out.
        memory: Whether allocations were noted down.
    """
    main = [each for each in contexts if each.main]
    time = sums(main, lambda each: each.lines, lambda cell: cell.own)
    operators = sums(main, lambda each: each.lines, lambda cell: cell.own if cell.operator else 0)
    allocated = sums(contexts, lambda each: each.lines, lambda cell: cell.allocated)
    backward, elsewhere = Sums(), Counter[int]()
    for context in contexts:
        if context.backward:
            spent = sum(cell.own for cell in context.cells.values())
            backward.own[context.source] += spent
            if context.main and context.source != -1:
                elsewhere[context.lines.index] += spent
    calls, reads = Counter[int](), Counter[int](copies_back)
    for cell in chain.from_iterable(each.cells.values() for each in contexts):
        line = cell.context.lines.index
        calls[line] += cell.calls if cell.name.startswith(LINE) else 0
        reads[line] += cell.calls if _is_read(cell) else 0
    order = sorted(range(len(collected.places)), key=lambda index: _position(collected, index))
    return tuple(
        LineCost(
            place=collected.places[index],
            calls=collected.silent.get(index, calls[index]),
            total=time.total[index] * _NANO,
            own=time.own[index] * _NANO,
            operators=operators.own[index] * _NANO,
            backward=backward.own[index] * _NANO,
            elsewhere=elsewhere[index] * _NANO,
            reads=reads[index],
            allocated=allocated.total[index] if memory else None,
            complete=index not in collected.silent,
        )
        for index in order
        if calls[index] or time.total[index] or index in collected.silent
    )


def _is_read(cell: Cell) -> bool:
    return cell.name == READ and cell.context.phase not in _THEIR_OWN


def _position(collected: Collected, index: int) -> tuple[str, int]:
    return collected.places[index].file, collected.places[index].line
