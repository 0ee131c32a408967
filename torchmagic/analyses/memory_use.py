"""This file is the memory use of a run: how much was used for what, at the step that needed most."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torchmagic.records.model import ParameterRecord
from torchmagic.session.run import Run

# What a category is called that holds all that is not known.
OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryUse:
    """Bytes by category.

    Args:
        step: The step at which the known categories were largest together.
        peak: Bytes of each known category at that step.
        other: Bytes of the rest at that step; on a CPU all that the process has beside.
        on_cpu: Whether the parameters lie on a CPU.
        steps: Steps that were looked at.
        series: Bytes of each known category at these steps.
    """

    step: int
    peak: Mapping[str, float]
    other: float
    on_cpu: bool
    steps: Sequence[int]
    series: Mapping[str, Sequence[float]]


def memory_use(run: Run) -> MemoryUse | None:
    """Return the bytes by category; None where they were not measured."""
    names = [name for name in run.subjects("memory_bytes") if name != OTHER]
    columns = {name: run.series("memory_bytes", name=name) for name in names}
    # thinning keeps each column's own extremes, so that columns may have steps that others lack
    by_step = {name: dict(zip(*column, strict=True)) for name, column in columns.items()}
    steps = sorted(set.intersection(*(set(each) for each in by_step.values()))) if by_step else []
    if not steps:
        return None
    peak = max(steps, key=lambda step: sum(each[step] for each in by_step.values()))
    rest = dict(zip(*run.series("memory_bytes", name=OTHER), strict=True))
    return MemoryUse(
        step=peak,
        peak={name: each[peak] for name, each in by_step.items()},
        other=rest.get(peak, 0.0),
        on_cpu=all(record.device.startswith("cpu") for record in run.of(ParameterRecord)),
        steps=steps,
        series={name: [each[step] for step in steps] for name, each in by_step.items()},
    )
