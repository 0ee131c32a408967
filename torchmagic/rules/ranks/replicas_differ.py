"""The copies of a model on several ranks no longer hold the same weights or buffers.

*Symptom*: losses of the ranks drift apart; the checkpoint of rank 0 is worse than the curve promised.

*Why it happens*: a rank updates on gradients of its own, skips a step, has another learning rate, or changes weights by
hand. Buffers, such as the running statistics of a batch norm, follow each rank's own rows where nobody sends them.

*What to try*: let ``DistributedDataParallel`` reduce all gradients, take every decision that changes an update on all
ranks alike, load checkpoints before the model is wrapped, and keep ``broadcast_buffers=True``.

*Source*: PyTorch, "Distributed data parallel", internal design; Li et al., "PyTorch distributed", VLDB 2020.
"""

from collections.abc import Iterator

from torchmagic.analyses.counting import few
from torchmagic.analyses.ranks_copies import Copies, copies
from torchmagic.analyses.ranks_exchange import averages_now_and_then, splits_work, wrapping_of, wraps
from torchmagic.analyses.ranks_words import apart_said
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.ranks import Checked, Wrapping
from torchmagic.rules.rule import rule
from torchmagic.session.ranked import Ranks
from torchmagic.session.run import Run

# Looks at which copies have to be apart: one alone may fall between an update and an exchange of the user's own.
MIN_APART = 2
MOST_NAMES = 3


@rule
def replicas_differ(run: Run, *, min_apart: int = MIN_APART) -> Iterator[Finding]:
    """Report each model whose weights, or buffers that nobody sends, parted and never met again."""
    ranks = run.ranks
    if ranks is None or ranks.num_read < len((0, 1)) or splits_work(ranks) or averages_now_and_then(ranks):
        return
    for found in copies(ranks, Checked.WEIGHT):
        kept_equal = wrapping_of(ranks, found.model) is not Wrapping.NONE or len(found.groups[found.looks[0]]) == 1
        if kept_equal and _are_apart(found, min_apart):
            yield _weights(found, ranks.num_read)
    for found in copies(ranks, Checked.BUFFER):
        if _are_apart(found, min_apart) and not _is_sent(ranks, found.model):
            yield _buffers(found)


def _are_apart(found: Copies, min_apart: int) -> bool:
    return len(found.apart) >= min_apart and not found.met_again


def _is_sent(ranks: Ranks, model: str) -> bool:
    """Whether rank 0's buffers go to all before each forward, or nothing is known of that."""
    return all(record.broadcast_buffers is not False for record in wraps(ranks, model))


def _weights(found: Copies, num_ranks: int) -> Finding:
    step = found.apart[0]
    return Finding(
        rule="replicas-differ",
        severity=Severity.ERROR,
        confidence=0.95,
        title=f"the weights of {found.model} differ across ranks from step {step:,} on: "
        f"{apart_said(found.groups[step])}",
        parameter=found.names[0] if found.names else None,
        step=step,
        evidence=_evidence(found, "weights that differ") | {"ranks": num_ranks},
        why="Copies that began alike stay alike only while every rank makes the same updates; these ranks train "
        "different models, and only one of them is kept.",
        fix="call backward through the wrapped model on every rank, and skip, clip or load on all ranks alike",
    )


def _buffers(found: Copies) -> Finding:
    step = found.apart[0]
    return Finding(
        rule="replicas-differ",
        severity=Severity.WARNING,
        confidence=0.8,
        title=f"the buffers of {found.model} differ across ranks: {', '.join(found.names[:MOST_NAMES]) or 'some'}",
        module=found.model,
        step=step,
        evidence=_evidence(found, "buffers that differ"),
        why="broadcast_buffers=False leaves each rank its own; what is saved and evaluated has those of one rank.",
        fix="DistributedDataParallel(model, broadcast_buffers=True), or nn.SyncBatchNorm.convert_sync_batchnorm(model)",
    )


def _evidence(found: Copies, what: str) -> dict[str, float | str]:
    told = few(found.names, most=MOST_NAMES)
    return {
        what: f"{len(found.names)} of {found.num_names}: {told}" if found.names else "told by one checksum of all",
        "looks at which they differed": f"{len(found.apart)} of {len(found.looks)}",
        "groups of equal ranks": len(found.groups[found.apart[0]]),
    }
