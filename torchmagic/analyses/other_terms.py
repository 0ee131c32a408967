"""This file is the other terms: what a loss has besides its criterion, whether it has no end below, and its line."""

import ast
import math
from collections.abc import Iterator
from dataclasses import dataclass

from torchmagic.analyses.loss_curve import loss_curve
from torchmagic.analyses.objective import Objective
from torchmagic.analyses.syntax import holds, last_name, tree_of
from torchmagic.records.loss import LossRecord
from torchmagic.session.run import Run

# Criteria that are never below zero, so that only another term can take the loss there.
NEVER_NEGATIVE = frozenset({
    "cross_entropy", "binary_cross_entropy", "binary_cross_entropy_with_logits", "mse_loss", "l1_loss", "huber_loss",
    "smooth_l1_loss",
})  # fmt: skip
# A loss that lies so many times its first size below zero may have no end there, and surely has none beyond the second:
# what is learned ends at some level.
TIMES_START, TIMES_SURELY = 100.0, 1e4
LEAST = 1e-3  # a loss that begins at zero has no size


@dataclass(frozen=True, slots=True, kw_only=True)
class Fall:
    """A loss that another term than its criterion takes down: both at the first and the last look.

    Args:
        sure: Whether it lies so far below zero that it does not matter what the criterion does.
    """

    sure: bool
    loss_first: float
    loss_last: float
    criterion_first: float
    criterion_last: float


def endless_fall(run: Run, objective: Objective) -> Fall | None:
    """Return the course of a loss that falls far below zero though its criterion cannot; None for any other."""
    if objective.sign != 1 or not objective.mixed or not set(objective.criteria) <= NEVER_NEGATIVE:
        return None
    curve = loss_curve(run, objective.losses[0]) if len(objective.losses) == 1 else None
    _, values = run.series("criterion", name=objective.losses[0])
    known = [value for value in values if math.isfinite(value)]
    if curve is None or len(known) < 2 or not known[0] > 0:  # noqa: PLR2004 - a first and a last one
        return None
    times = -curve.end / max(abs(curve.start), float(abs(curve.values[0])), LEAST)
    if times < TIMES_START:
        return None
    return Fall(
        sure=times >= TIMES_SURELY,
        loss_first=curve.start,
        loss_last=curve.end,
        criterion_first=known[0],
        criterion_last=known[-1],
    )


def line_of_other_term(run: Run, text: str, loss: str) -> int | None:
    """Return the only line of a text that assigns a part of a loss that is no criterion; None where there are more.

    Args:
        run: The lines of its criteria are known.
        text: The source in which its loss is computed.
        loss: Name of the loss.
    """
    tree = tree_of(text)
    criteria = {each.place.line for each in run.of(LossRecord) if each.place is not None}
    names = {last_name(part) for value in _sums(tree, loss, criteria) for part in ast.walk(value)}
    lines = {
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and any(last_name(target) in names - {loss} for target in node.targets)
        and isinstance(node.value, (ast.BinOp, ast.UnaryOp, ast.Call))
        and any(isinstance(part, ast.BinOp) for part in ast.walk(node.value))
        and not any(holds(node, line) for line in criteria)
    }
    return lines.pop() if len(lines) == 1 else None


def _sums(tree: ast.Module, loss: str, criteria: set[int]) -> Iterator[ast.expr]:
    """Yield the expressions that may add a loss up: what is assigned to its name, or returned beside its criterion."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and any(last_name(target) == loss for target in node.targets):
            yield node.value
        elif isinstance(node, ast.FunctionDef) and any(holds(node, line) for line in criteria):
            yield from (each.value for each in ast.walk(node) if isinstance(each, ast.Return) and each.value)
