"""Every rank trains on the same samples.

*Symptom*: N ranks learn as fast as one, at N times the cost; losses of the ranks are equal, or an epoch has as many
steps as on one process.

*Why it happens*: the loader has no ``DistributedSampler`` (or one that was told the same rank everywhere), or ranks
draw data from generators with the same seed.

*What to try*: ``DataLoader(dataset, sampler=DistributedSampler(dataset))`` in place of ``shuffle=True``; for data that
are drawn, add the rank to the seed.

*Source*: PyTorch documentation of ``torch.utils.data.distributed.DistributedSampler``.
"""

from collections.abc import Iterator

from torchmagic.analyses.loader_lines import line_of_loader
from torchmagic.analyses.ranks_courses import losses_of
from torchmagic.analyses.ranks_exchange import splits_work, wraps
from torchmagic.analyses.ranks_passes import Passes, loader_named, sharing, trained_passes
from torchmagic.analyses.ranks_words import ranks_said
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.ranks import Wrapping
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.ranked import Ranks
from torchmagic.session.run import Run

# Batches that have to be the same; fewer may be, by accident, in a small dataset.
MIN_BATCHES = 3
# Steps whose losses have to be equal, bit by bit, where no loader tells what was given.
MIN_STEPS = 5


@rule
def same_data_on_ranks(run: Run, *, min_batches: int = MIN_BATCHES, min_steps: int = MIN_STEPS) -> Iterator[Finding]:
    """Report each loader that gives ranks the same batches, or each rank all samples; without loaders, equal losses."""
    ranks = run.ranks
    if ranks is None or ranks.num_read < len((0, 1)) or splits_work(ranks):
        return
    loaders = trained_passes(ranks)
    for name, passes in loaders.items():
        group, batches = sharing(passes, min_batches=min_batches)
        if len(group) == ranks.num_read or (group and not _is_sharded_otherwise(ranks)):
            yield _same(ranks, name, passes, group, batches)
        elif not batches or not group:
            yield from _all_of_it(ranks, name, passes)
    if not loaders:
        yield from _equal_losses(ranks, min_steps)


def _is_sharded_otherwise(ranks: Ranks) -> bool:
    """Whether some ranks may belong together by design, as those that hold parts of one tensor do."""
    return any(record.wrapper in (Wrapping.FSDP, Wrapping.FSDP2) for record in wraps(ranks))


def _same(ranks: Ranks, name: str, passes: Passes, group: tuple[int, ...], batches: int) -> Finding:
    record = next(iter(passes.values()))[group[0]]
    known = loader_named(ranks, name)
    told = {passes[min(passes)][rank].replica for rank in group if rank in passes[min(passes)]}
    wrong_rank = record.sharded and len(told) == 1 and record.replica >= 0
    return Finding(
        rule="same-data-on-ranks",
        severity=Severity.ERROR,
        confidence=0.95,
        title=f"{name} gives {ranks_said(group)} the same batches",
        **line_of(line_of_loader(known)),
        evidence={
            "equal batches": batches,
            "sampler": record.samplers[-1] if record.samplers else "none",
            "splits among": record.replicas or "nobody",
        },
        why=f"Its sampler was set up as rank {record.replica} on all of them."
        if wrong_rank
        else "Nothing gives each rank its own part of the dataset: all of them go through the same samples in the same "
        "order.",
        fix="DistributedSampler(dataset, num_replicas=dist.get_world_size(), rank=dist.get_rank())"
        if wrong_rank
        else "DataLoader(dataset, sampler=DistributedSampler(dataset))  # in place of shuffle=True",
    )


def _all_of_it(ranks: Ranks, name: str, passes: Passes) -> Iterator[Finding]:
    """Yield a finding where each rank goes through all samples in an order of its own."""
    records = [record for found in passes.values() for record in found.values()]
    whole = all(
        record.sharded is False
        and record.num_samples
        and record.batch_size
        and (record.num_expected or 0) * record.batch_size >= record.num_samples - record.batch_size
        for record in records
    )
    known, first = loader_named(ranks, name), records[0]
    equal = {record.num_samples for record in records} == {first.num_samples}
    parts = known is not None and known.dataset == "Subset"  # each rank's may be another part
    if not whole or not equal or parts or len(next(iter(passes.values()))) < ranks.num_read:
        return
    yield Finding(
        rule="same-data-on-ranks",
        severity=Severity.INFO,
        confidence=0.45,  # the datasets may be parts that somebody cut
        title=f"each rank goes through all {first.num_samples or 0:,} samples of its {name}, in an order of its own",
        **line_of(line_of_loader(known)),
        evidence={"batches of a pass": first.num_expected or 0, "ranks": ranks.world_size},
        why=f"If these are the same samples, a pass costs {ranks.world_size:,} times what it has to.",
        fix="DataLoader(dataset, sampler=DistributedSampler(dataset))  # in place of shuffle=True",
    )


def _equal_losses(ranks: Ranks, min_steps: int) -> Iterator[Finding]:
    """Yield a finding where all ranks have the same losses, which no two different batches give."""
    found = losses_of(ranks)
    if len(found.ranks) < ranks.num_read or len(found) < min_steps:
        return
    first = found.values[0]
    if len(set(first.tolist())) < min_steps or not (found.values == first).all():
        return
    yield Finding(
        rule="same-data-on-ranks",
        severity=Severity.WARNING,
        confidence=0.8,
        title=f"all {ranks.world_size:,} ranks have the same loss at each of {len(found):,} steps",
        step=int(found.steps[0]),
        evidence={"equal losses": len(found), "threshold": min_steps},
        why="Only the same samples, and the same random numbers, give the same loss to the last bit.",
        fix="torch.manual_seed(seed + dist.get_rank())  # before data are drawn; weights are sent by the wrapper",
    )
