"""Optimizer steps are made on gradients that ``no_sync`` kept from being exchanged.

*Symptom*: ranks drift apart although the model is wrapped in ``DistributedDataParallel``.

*Why it happens*: ``no_sync`` is for all micro-batches of a step but the last. Where the last one stands inside it as
well, nothing is ever reduced, and each rank steps on its own gradients.

*What to try*: leave the block before the last micro-batch of each step: its forward and backward have to run outside.

*Source*: PyTorch documentation of ``DistributedDataParallel.no_sync``.
"""

from collections.abc import Iterator

from torchmagic.analyses.ranks_copies import copies
from torchmagic.analyses.ranks_exchange import averages_now_and_then, wraps
from torchmagic.analyses.ranks_words import ranks_said
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.ranks import Checked, Wrapping
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.ranked import Ranks
from torchmagic.session.run import Run

# Steps without any exchange; a single one may be the end of an epoch that was cut short.
MIN_STEPS = 2


@rule
def no_sync_misuse(run: Run, *, min_steps: int = MIN_STEPS) -> Iterator[Finding]:
    """Report steps before which gradients were withheld and none exchanged, where the copies then parted."""
    ranks = run.ranks
    if ranks is None or ranks.num_read < len((0, 1)) or averages_now_and_then(ranks):
        return
    steps = {rank: found for rank in ranks.runs if len(found := _unshared(ranks, rank)) >= min_steps}
    weights = copies(ranks, Checked.WEIGHT)
    parted = [found for found in weights if found.apart and not found.met_again]
    if steps and parted:
        yield _finding(ranks, steps)


def _unshared(ranks: Ranks, rank: int) -> list[int]:
    """Return the steps that a rank made on gradients of which none was exchanged."""
    run = ranks.runs[rank]
    reduced, withheld = (
        dict(zip(*run.series("gradient_sync", name=how), strict=True)) for how in ("reduced", "withheld")
    )
    return [step for step, passes in withheld.items() if passes and not reduced.get(step) and step < run.steps]


def _finding(ranks: Ranks, steps: dict[int, list[int]]) -> Finding:
    rank, first = min(((rank, found[0]) for rank, found in steps.items()), key=lambda pair: (pair[1], pair[0]))
    wrap = next((record for record in wraps(ranks) if record.wrapper is not Wrapping.NONE), None)
    num_steps = len(steps[rank])
    return Finding(
        rule="no-sync-misuse",
        severity=Severity.ERROR,
        confidence=0.95,
        title=f"{num_steps:,} of {ranks.runs[rank].steps:,} steps are made on gradients that no_sync kept on each rank",
        module=wrap.model if wrap is not None else None,
        **line_of(wrap.place if wrap is not None else None),
        step=first,
        evidence={"steps without an exchange": num_steps, "on": ranks_said(steps), "first at step": first},
        why="All backward passes before these steps ran inside no_sync, the last one too.",
        fix="with contextlib.nullcontext() if is_last_micro_batch else model.no_sync():\n    loss(model(x)).backward()",
    )
