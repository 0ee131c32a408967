"""Trainable parameters are given to an optimizer, but nothing in the forward leads from them to the loss.

*Symptom*: part of the model stays as it was initialised; ``DistributedDataParallel`` complains of unused parameters.

*Why it happens*: a layer was defined and its call was forgotten, another layer is called in its place, or its output is
computed and not used.

*What to try*: call it in ``forward``, or remove it. A layer that only serves as a pattern for copies can be left out of
the model. What a library's own model leaves out, such as a head whose features are taken before it, or an output that
nobody needs, is told as a fact only; it can be frozen.

*Source*: PyTorch documentation of ``DistributedDataParallel``, ``find_unused_parameters``.
"""

from collections.abc import Iterator

from torchmagic.analyses.arrivals import is_cut, silent_parts
from torchmagic.analyses.counting import few
from torchmagic.records.connection import DROPPED, GradientFlowRecord, UnreachedRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.protocol import UnownedGradientsRecord
from torchmagic.rules.rule import rule
from torchmagic.session.run import Run

# Steps that the optimizer must have made since the parameters were first seen.
MIN_STEPS = 5
# Training forwards from which on a cut is what explains it.
CUT_FORWARDS = 3


@rule
def unused_parameter(run: Run, *, min_steps: int = MIN_STEPS, cut_forwards: int = CUT_FORWARDS) -> Iterator[Finding]:
    """Report each part of a model that never had a gradient, unless a cut is what takes it away."""
    if not any(flow.num_received for flow in run.of(GradientFlowRecord)):
        return
    elsewhere = {name for each in run.of(UnownedGradientsRecord) for name in each.parameters}
    for record in silent_parts(run):
        # others stand in their place, under the same name where they have one
        nameless = not record.module or all(name.startswith(f"{record.optimizer}[") for name in record.parameters)
        orphaned = (bool(elsewhere) and nameless) or not elsewhere.isdisjoint(record.parameters)
        if record.steps >= min_steps and not orphaned and not is_cut(record, min_forwards=cut_forwards):
            yield _finding(record, min_steps)


def _finding(record: UnreachedRecord, min_steps: int) -> Finding:
    what = record.module if record.whole else few(record.parameters, record.num_parameters)
    first = record.module if record.whole else record.parameters[0]
    ran = record.executed > 0 and record.whole
    return Finding(
        rule="unused-parameter",
        severity=Severity.INFO if record.how == DROPPED or record.of_library else Severity.WARNING,
        confidence=0.9 if record.whole and not ran else 0.8,
        title=f"{what} never gets a gradient: " + ("its output is not used" if ran else "no forward uses it"),
        module=record.module or None,
        parameter=record.parameters[0],
        optimizer=record.optimizer,
        evidence={
            "parameters": few(record.parameters, record.num_parameters),
            f"steps of {record.optimizer}": record.steps,
            "threshold": min_steps,
            "forwards in which it ran": record.executed,
        },
        why="The optimizer holds these parameters, but no loss of this run was computed from them."
        + (" It is a library's code that leaves them out, which may be as it is meant." if record.of_library else ""),
        fix=f"{first}.requires_grad_(False)" if record.of_library else f"use {what} in forward, or remove it",
    )
