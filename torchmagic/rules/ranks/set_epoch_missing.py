"""A ``DistributedSampler`` shuffles every epoch alike, as nobody tells it which epoch it is.

*Symptom*: each rank sees its samples in the same order, and the same samples, in every epoch.

*Why it happens*: the sampler draws its order from its seed and the number of the epoch, which only ``set_epoch``
changes; each rank then keeps the same part of the dataset for good.

*What to try*: ``sampler.set_epoch(epoch)`` before each pass over the loader.

*Source*: PyTorch documentation of ``torch.utils.data.distributed.DistributedSampler``, the warning on ``set_epoch``.
"""

from collections.abc import Iterator

from torchmagic.analyses.loader_lines import line_of_loader
from torchmagic.analyses.ranks_passes import loader_named, shuffled_alike, trained_passes
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Batches in which passes have to agree, and passes.
MIN_BATCHES = 3


@rule
def set_epoch_missing(run: Run, *, min_batches: int = MIN_BATCHES) -> Iterator[Finding]:
    """Report each loader whose passes all had the same epoch and the same order."""
    ranks = run.ranks
    if ranks is None:
        return
    for name, passes in trained_passes(ranks).items():
        own = {number: records[min(records)] for number, records in passes.items()}
        records = list(own.values())
        epochs = {record.epoch for record in records}
        if len(records) < len((0, 1)) or len(epochs) > 1 or None in epochs or not all(each.shuffle for each in records):
            continue
        batches = min(record.num_batches for record in records)
        if shuffled_alike(own, min_batches=min(min_batches, max(1, batches))):
            known = loader_named(ranks, name)
            yield Finding(
                rule="set-epoch-missing",
                severity=Severity.WARNING,
                confidence=0.95,
                title=f"{name} was shuffled alike in all {len(records)} passes: set_epoch was not called",
                **line_of(line_of_loader(known)),
                evidence={"passes": len(records), "epoch of all": records[0].epoch or 0, "batches compared": batches},
                why="The sampler draws its order from its seed and its epoch, and both stayed as they were.",
                fix="sampler.set_epoch(epoch)  # before each pass over the loader",
            )
