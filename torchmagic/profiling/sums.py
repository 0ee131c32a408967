"""This file adds up what places cost, for what is innermost there and for all that is around it."""

from collections import defaultdict
from collections.abc import Callable, Iterable

from torchmagic.profiling.contexts import Cell, Chain, Context


class Sums:
    """Sums by number, of the innermost alone and with what it calls; what calls itself counts once."""

    def __init__(self) -> None:
        self.own: defaultdict[int, int] = defaultdict(int)
        self.total: defaultdict[int, int] = defaultdict(int)

    def add(self, chain: Chain, amount: int) -> None:
        """Add an amount to the innermost of a chain and to all around it."""
        if amount:
            self.own[chain.index] += amount
            for index in chain.indices():
                self.total[index] += amount


def sums(
    contexts: Iterable[Context],
    chain: Callable[[Context], Chain],
    amount: Callable[[Cell], int],
    *,
    where: Callable[[Context], bool] = lambda _: True,
) -> Sums:
    """Return the sums of an amount over all that ran at some places.

    Args:
        contexts: The places.
        chain: What to sum by.
        amount: What is summed.
        where: Which places count.
    """
    found = Sums()
    for context in contexts:
        if where(context):
            found.add(chain(context), sum(map(amount, context.cells.values())))
    return found
