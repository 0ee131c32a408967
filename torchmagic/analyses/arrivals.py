"""This file is the arrivals of gradients: which parts of a run's models they never came to, and which story fits."""

from torchmagic.records.connection import DetachedLossRecord, GradientFlowRecord, UnreachedRecord
from torchmagic.session.run import Run


def disconnected(run: Run) -> DetachedLossRecord | None:
    """Return what is known of a run none of whose backward passes reached anything; None for any other run."""
    return next(iter(run.of(DetachedLossRecord)), None)


def stale(run: Run, *, min_steps: int = 1) -> list[GradientFlowRecord]:
    """Return the optimizers that stepped without any gradient of theirs, while a model like theirs had some in vain.

    Args:
        run: A run.
        min_steps: Steps that such an optimizer must have made so.
    """
    flows = [flow for flow in run.of(GradientFlowRecord) if flow.twin and flow.num_trainable]
    return [flow for flow in flows if (flow.idle if flow.num_received else flow.steps) >= min_steps]


def silent_parts(run: Run) -> list[UnreachedRecord]:
    """Return the parts without a gradient that are worth a word of their own.

    Left out are parts whose values somebody else changes or an earlier cell has trained, those beside which a model
    chooses, and everything of a run or an optimizer that had no gradient at all.
    """
    if disconnected(run) is not None:
        return []
    lost = {flow.optimizer for flow in run.of(GradientFlowRecord) if flow.twin and (flow.idle or not flow.num_received)}
    return [
        record
        for record in run.of(UnreachedRecord)
        if not (record.changed or record.stepped_before or record.varies or record.optimizer in lost)
    ]


def is_cut(record: UnreachedRecord, *, min_forwards: int) -> bool:
    """Whether a part ran in enough training forwards, and the source shows where its result leaves the graph."""
    return record.executed >= min_forwards and record.cut is not None
