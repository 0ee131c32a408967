"""This file is the trainings of a run: which steps belong together, by the optimizer and by what it trains."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from torchmagic.records.model import ModelRecord
from torchmagic.records.objective import GroupRecord
from torchmagic.session.run import Run


@dataclass(frozen=True, slots=True)
class Stretch:
    """The norms of one optimizer's steps, in one of several trainings that follow each other.

    Args:
        steps: The steps.
        norms: Norm of the gradients at each.
    """

    steps: list[int]
    norms: list[float]


def stretches(run: Run, steps: Sequence[int], norms: Sequence[float]) -> list[Stretch]:
    """Return a series of norms by training, and where several optimizers step by turns by optimizer.

    Gradients of another model, or of another loss, are of another size by nature.

    Args:
        run: The run.
        steps: Steps of the series, rising.
        norms: Its values.
    """
    begins = beginnings(run)
    whose = {
        step: optimizer
        for optimizer in run.subjects("optimizer_grad_norm")
        for step in run.series("optimizer_grad_norm", name=optimizer)[0]
    }
    found: dict[tuple[int, str], Stretch] = {}
    for step, norm in zip(steps, norms, strict=True):
        key = bisect_right(begins, step), whose.get(step, "")
        stretch = found.setdefault(key, Stretch([], []))
        stretch.steps.append(step)
        stretch.norms.append(norm)
    return list(found.values())


def beginnings(run: Run) -> list[int]:
    """Return the steps at which an optimizer began that trains what none before it did: a training of its own."""
    names = [each.name for each in run.of(ModelRecord)]
    again = len(set(names)) < len(names)  # models of one name follow each other
    trained: set[str] = set()
    optimizers: dict[str, int] = {}
    begins = []
    for group in run.of(GroupRecord):
        begun = optimizers.get(group.optimizer)
        anew = trained.isdisjoint(group.parameters) or (again and begun is not None)
        if anew and group.step > (begun or 0):
            begins.append(group.step)
        optimizers[group.optimizer] = group.step
        trained.update(group.parameters)
    return sorted(set(begins))
