"""This file is the modules of a run: what each innermost one gave, in the order in which they ran."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torchmagic.analyses.columns import courses
from torchmagic.records.activation import ActivationRecord, TensorFacts
from torchmagic.session.ends import greatest, latest
from torchmagic.session.run import Run

# Latest values, by the name that a row has for them.
METRICS = {
    "mean": "activation_mean",
    "std": "activation_std",
    "abs_max": "activation_abs_max",
    "zero_share": "activation_zero_share",
    "saturation": "activation_saturation",
    "dead_share": "dead_share",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleRow:
    """One innermost module, or one call of a rectifier.

    Args:
        module: Its path.
        class_name: Its class; empty for a call.
        output: Facts of its first output; None where it was not seen.
        latest: Latest value of each of ``METRICS`` that it has.
        num_nonfinite: Most values that were not finite at one look.
        course: Its standard deviation over the steps.
    """

    module: str
    class_name: str
    output: TensorFacts | None
    latest: Mapping[str, float]
    num_nonfinite: float
    course: Sequence[float]


def modules(run: Run) -> list[ModuleRow]:
    """Return a row for each module that gave something, those without a record last."""
    values = {name: latest(run, metric) for name, metric in METRICS.items()}
    nonfinite, course = greatest(run, "activation_nonfinite"), courses(run, "activation_std")
    known: dict[str, ActivationRecord] = {}
    for record in run.of(ActivationRecord):
        known.setdefault(record.module, record)
    order = dict.fromkeys(known)
    order |= dict.fromkeys(subject for found in values.values() for subject in found if subject)
    return [
        ModuleRow(
            module=module,
            class_name=known[module].class_name if module in known else "",
            output=known[module].outputs[0] if module in known and known[module].outputs else None,
            latest={name: found[module] for name, found in values.items() if module in found},
            num_nonfinite=nonfinite.get(module, 0.0),
            course=course.get(module, ()),
        )
        for module in order
    ]
