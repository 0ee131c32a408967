"""This file is the rows of a run: all values of one step together, as trackers log them."""

from collections import defaultdict
from collections.abc import Iterator

from torchmagic.exports.names import key
from torchmagic.exports.points import curves
from torchmagic.session.run import Run


def rows(run: Run) -> Iterator[tuple[int, dict[str, float]]]:
    """Yield (step, values by key) in order of step; where a metric has two values at one step, the later one."""
    found: dict[int, dict[str, float]] = defaultdict(dict)
    for curve in curves(run):
        name = key(curve.metric, curve.subject)
        for step, value in zip(curve.steps, curve.values, strict=True):
            found[step][name] = value
    yield from sorted(found.items())
