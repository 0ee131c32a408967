"""Ranks begin to train a model with different weights, although they share its gradients.

*Symptom*: ranks never agree, however well their gradients are reduced; the loss is worse than that of a single process.

*Why it happens*: each rank seeds its generator differently, or loads another checkpoint, and nothing sends the weights
of one rank to the others. ``DistributedDataParallel`` does so once, as it wraps the model; what is changed later is not
sent.

*What to try*: wrap the model in ``DistributedDataParallel`` after its weights are final, or send them yourself:
``for t in model.state_dict().values(): dist.broadcast(t, src=0)``.

*Source*: PyTorch documentation of ``DistributedDataParallel``, "parameters are never broadcast between processes".
"""

from collections.abc import Iterator

from torchmagic.analyses.ranks_copies import Copies, copies
from torchmagic.analyses.ranks_exchange import averages_now_and_then, splits_work, wraps
from torchmagic.analyses.ranks_words import apart_said, ranks_said
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.ranks import Checked, RandomStateRecord, Wrapping
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.ranked import Ranks
from torchmagic.session.run import Run

MOST_SEEDS = 4


@rule
def initial_weights_differ(run: Run) -> Iterator[Finding]:
    """Report each model that ranks train together from different weights on."""
    ranks = run.ranks
    if ranks is None or ranks.num_read < len((0, 1)) or splits_work(ranks) or averages_now_and_then(ranks):
        return
    shared = {found.model for found in copies(ranks, Checked.GRADIENT) if len(found.apart) < len(found.looks)}
    for found in copies(ranks, Checked.WEIGHT):
        if found.looks[0] != 0 or found.met_again or len(found.groups[0]) == 1:
            continue
        if found.model in shared or any(each.wrapper is Wrapping.DDP for each in wraps(ranks, found.model)):
            yield _finding(ranks, found)


def _finding(ranks: Ranks, found: Copies) -> Finding:
    wrap = next(iter(wraps(ranks, found.model)), None)
    is_wrapped = wrap is not None and wrap.wrapper is Wrapping.DDP
    seeds = {rank: record[0].seed for rank, record in ranks.of(RandomStateRecord).items() if record}
    evidence: dict[str, float | str] = {
        "weights that differ": f"{len(found.names)} of {found.num_names}",
        "ranks that agree": ranks_said(found.groups[0][0]),
    }
    if seeds:
        evidence["seeds"] = ", ".join(f"{seeds[rank]} on rank {rank}" for rank in list(seeds)[:MOST_SEEDS])
    return Finding(
        rule="initial-weights-differ",
        severity=Severity.ERROR,
        confidence=0.95,
        title=f"{found.model} begins with different weights: {apart_said(found.groups[0])}",
        parameter=found.names[0] if found.names else None,
        **line_of(wrap.place if wrap is not None else None),
        step=0,
        evidence=evidence,
        why="DistributedDataParallel had made them equal; weights were changed on some ranks after it had."
        if is_wrapped
        else "Equal updates keep equal weights equal, and different ones different.",
        fix="load or change weights before DistributedDataParallel(model), on every rank"
        if is_wrapped
        else "for tensor in model.state_dict().values(): dist.broadcast(tensor, src=0)  # before the first step",
    )
