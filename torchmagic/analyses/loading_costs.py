"""This file is the costs of loading: which lines of the user's make samples, as far as names tell."""

import re

from torchmagic.analyses.operator_kinds import LOADING_FUNCTIONS
from torchmagic.records.costs import CostsRecord, LineCost

# A transform of a transform of a transform; deeper is a circle.
DEEPEST = 6


def loading_lines(costs: CostsRecord) -> list[LineCost]:
    """Return the lines of datasets' functions, and those of the functions that they call, as far as names tell."""
    found = [line for line in costs.lines if line.place.function in LOADING_FUNCTIONS]
    for _ in range(DEEPEST):
        called = [line for line in costs.lines if line not in found and any(_calls(each, line) for each in found)]
        if not called:
            break
        found += called
    return found


def slowest_loading_line(costs: CostsRecord) -> LineCost | None:
    """Return the line that takes most of the samples' making by itself; None where no line of the user's does."""
    return max((line for line in loading_lines(costs) if line.own > 0), key=lambda line: line.own, default=None)


def _calls(caller: LineCost, line: LineCost) -> bool:
    name = line.place.function
    return name.isidentifier() and re.search(rf"\b{name}\(", caller.place.source) is not None
