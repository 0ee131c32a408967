"""This file is what waiting for each loader's batches cost."""

from collections import Counter, defaultdict
from collections.abc import Iterable

from torchmagic.profiling.collected import Collected
from torchmagic.profiling.noted import Batch
from torchmagic.records.costs import LoaderCost

MOST_WAITS = 200
_NANO = 1e-9


def loader_costs(collected: Collected, batches: Iterable[Batch]) -> tuple[LoaderCost, ...]:
    """Return what waiting for each loader's batches cost, the dearest first; ``waits`` in the order of the batches."""
    by_loader: defaultdict[int, list[Batch]] = defaultdict(list)
    for batch in batches:
        by_loader[batch.loader].append(batch)
    costs = []
    for index, came in by_loader.items():
        site = collected.loaders[index]
        line = Counter(batch.line for batch in came).most_common(1)[0][0]
        costs.append(
            LoaderCost(
                loader=site.name,
                workers=site.workers,
                batches=len(came),
                waits=tuple(batch.wait * _NANO for batch in _longest(came)),
                total=sum(batch.wait for batch in came) * _NANO,
                busy=site.busy,
                place=collected.places[line] if line >= 0 else None,
            )
        )
    return tuple(sorted(costs, key=lambda cost: -cost.total))


def _longest(batches: list[Batch]) -> list[Batch]:
    order = sorted(range(len(batches)), key=lambda number: -batches[number].wait)[:MOST_WAITS]
    return [batches[number] for number in sorted(order)]
