"""A part of the model runs, but the graph is cut between it and the loss.

*Symptom*: the part stays as it was initialised while the rest trains; the result is worse than it should be.

*Why it happens*: ``.detach()``, ``.data``, ``torch.no_grad()``, numpy or ``argmax`` stands between the part and the
loss, so that no gradient comes back to it. A checkpoint with ``use_reentrant=True`` gives a graph only to what has an
input that requires a gradient, which a first block has not.

*What to try*: remove the cut; or, where the part is meant to stay fixed, say so with ``requires_grad_(False)`` and
leave it out of the optimizer. Checkpoint with ``use_reentrant=False``.

*Source*: PyTorch issue 7462; PyTorch documentation, "Autograd mechanics".
"""

from collections.abc import Iterator

from torchmagic.analyses.arrivals import is_cut, silent_parts
from torchmagic.analyses.counting import few
from torchmagic.analyses.recomputing import REENTRANT
from torchmagic.records.connection import GradientFlowRecord, UnreachedRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Training forwards in which the part must have run, and steps that must have gone by.
MIN_FORWARDS = 3
MIN_STEPS = 3
SURE, ALMOST_SURE, LIKELY = 0.95, 0.85, 0.6
# Cuts that choose: taken away, nothing would be left to choose with.
CHOOSING = ("argmax()", "argmin()", "argsort()", "()[1]", "one_hot()")


@rule
def detached_subgraph(run: Run, *, min_forwards: int = MIN_FORWARDS, min_steps: int = MIN_STEPS) -> Iterator[Finding]:
    """Report each part that ran in training forwards and never had a gradient because of a cut."""
    if not any(flow.num_received for flow in run.of(GradientFlowRecord)):
        return
    for record in silent_parts(run):
        if record.steps >= min_steps and is_cut(record, min_forwards=min_forwards):
            yield _finding(record, min_forwards)


def _finding(record: UnreachedRecord, min_forwards: int) -> Finding:
    what = record.module if record.whole else record.parameters[0]
    unless = "" if record.sure else "its result is not used, or "
    return Finding(
        rule="detached-subgraph",
        severity=Severity.ERROR if record.sure else Severity.WARNING,
        confidence=LIKELY if not record.sure else SURE if record.whole else ALMOST_SURE,
        title=f"{what} runs but gets no gradient: {unless}{record.how} cuts it off from the loss",
        module=record.module or None,
        parameter=record.parameters[0],
        optimizer=record.optimizer,
        **line_of(record.cut),
        evidence={
            "parameters without a gradient": few(record.parameters, record.num_parameters),
            "training forwards in which it ran": record.executed,
            "threshold": min_forwards,
            f"steps of {record.optimizer}": record.steps,
        },
        why=_why(record),
        fix=_fix(record.how, what),
    )


def _why(record: UnreachedRecord) -> str:
    if record.how == REENTRANT:
        return (
            "A reentrant checkpoint computes without a graph, and has a backward only where one of its inputs requires "
            "a gradient; the weights inside do not count, and data requires none."
        )
    if record.sure:
        return (
            "The result is taken out of the graph on its way to the loss, so that gradients end there and the part "
            "stays as it is."
        )
    return "What it gives does not come to the loss; the code of its model takes something out of the graph there."


def _fix(how: str, what: str) -> str:
    if how == REENTRANT:
        return "checkpoint(…, use_reentrant=False)"
    frozen = f"or freeze it on purpose: {what}.requires_grad_(False)"
    if how.endswith(CHOOSING):
        return f"F.gumbel_softmax(…, hard=True) or a softmax in place of {how}, {frozen}"
    return f"remove {how}, {frozen}"
