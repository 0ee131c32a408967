"""This file is what each module cost, forward and backward."""

from collections import Counter
from collections.abc import Mapping
from itertools import chain

from torchmagic.profiling.collected import MODULE, Collected
from torchmagic.profiling.contexts import Contexts
from torchmagic.profiling.sums import sums
from torchmagic.records.costs import ModuleCost

_NANO = 1e-9


def module_costs(
    collected: Collected, contexts: Contexts, *, device: bool, flops: bool, kept: Mapping[int, int] | None
) -> tuple[ModuleCost, ...]:
    """Return what each module cost; its backward is that of the nodes that its forward made.

    What a backward runs again, as a checkpoint does, is backward. Adding to a parameter's gradient belongs to the
    module whose node made the gradient.

    Args:
        collected: The modules.
        contexts: What ran, by place.
        device: Whether there are kernels.
        flops: Whether operations were counted.
        kept: Bytes that each kept; None where memory was not noted down.
    """
    forward = sums(contexts, lambda each: each.modules, lambda cell: cell.own, where=lambda each: not each.backward)
    backward = sums(contexts, lambda each: each.modules, lambda cell: cell.own, where=lambda each: each.backward)
    kernels = sums(contexts, lambda each: each.modules, lambda cell: cell.device)
    operations = sums(contexts, lambda each: each.modules, lambda cell: cell.flops)
    allocated = sums(
        contexts, lambda each: each.modules, lambda cell: cell.allocated, where=lambda each: not each.backward
    )
    calls = _calls(contexts)
    return tuple(
        ModuleCost(
            model=site.model,
            path=site.path,
            class_name=site.class_name,
            calls=collected.silent_modules.get(index, calls[index]),
            forward=forward.total[index] * _NANO,
            forward_own=forward.own[index] * _NANO,
            backward=backward.total[index] * _NANO,
            backward_own=backward.own[index] * _NANO,
            device=kernels.total[index] * _NANO if device else None,
            flops=operations.total[index] if flops else None,
            allocated=None if kept is None else allocated.total[index],
            kept=None if kept is None else kept.get(index, 0),
            dtype=site.dtype,
        )
        for index, site in enumerate(collected.modules)
    )


def _calls(contexts: Contexts) -> Counter[int]:
    found: Counter[int] = Counter()
    for cell in chain.from_iterable(each.cells.values() for each in contexts if not each.backward):
        if cell.name.startswith(MODULE):
            found[cell.context.modules.index] += cell.calls
    return found
