"""This file is the class targets: of each loader that is trained on, how its classes are spread over the batches."""

from collections.abc import Sequence
from dataclasses import dataclass

from torchmagic.records.data import ClassCountsRecord, Source
from torchmagic.records.feeding import LoaderUseRecord
from torchmagic.records.loss import LossRecord
from torchmagic.records.model import LoaderRecord
from torchmagic.session.run import Run

# Losses that want classes; the others compare numbers.
CLASSIFYING = ("cross_entropy", "nll_loss", "margin", "soft_margin", "focal")
# A loader is trained on when a backward followed at least one in so many of its batches: a batch that was fetched
# before an evaluation may be mistaken for one of it.
TRAINED = 3
# Of a loader in a fixed order, a look at some batches misses classes; so does one at some calls of a loss.
MOST_OF = 2 / 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassTargets:
    """The class targets of one loader that is trained on: what it is, how it was used, and the classes it gave."""

    loader: LoaderRecord
    use: LoaderUseRecord
    counts: ClassCountsRecord


def trained_loaders(run: Run) -> list[tuple[LoaderRecord, LoaderUseRecord]]:
    """Return the loaders whose batches were trained on."""
    uses = {record.loader: record for record in run.of(LoaderUseRecord)}
    return [
        (record, uses[record.name])
        for record in run.of(LoaderRecord)
        if record.name in uses and 0 < uses[record.name].num_trained * TRAINED >= uses[record.name].num_batches
    ]


def class_targets(run: Run) -> list[ClassTargets]:
    """Return, a loader, the field of its batches that is what a loss for classes is given.

    Where a loss got classes, the field has them, and as few others as any; of several such fields it is the one that
    is mixed best. Where all losses compare numbers, there is none.
    """
    counted = run.of(ClassCountsRecord)
    losses = run.of(LossRecord)
    classifying = {each.name for each in losses if any(part in each.name for part in CLASSIFYING)}
    binary = {each.name for each in losses if each.name.startswith("binary_cross_entropy")}
    if losses and not classifying | binary:
        return []
    wanted = {
        name
        for each in counted
        if each.source is Source.LOSS and each.name in classifying | binary
        for name in each.counts
    }
    found = []
    for loader, use in trained_loaders(run):
        fields = [
            each
            for each in counted
            if each.source is Source.LOADER and each.name == loader.name and _fits(each, use, wanted, counted)
        ]
        if fields:
            counts = min(fields, key=lambda each: (len(wanted ^ set(each.counts)) if wanted else 0, _few(each)))
            found.append(ClassTargets(loader=loader, use=use, counts=counts))
    return found


def _fits(
    record: ClassCountsRecord, use: LoaderUseRecord, wanted: set[str], counted: Sequence[ClassCountsRecord]
) -> bool:
    """Whether a field has the classes that losses got: all, or most and few others where not all batches were seen."""
    found = _classes(record, counted)
    sampled = record.num_batches < use.num_batches
    return wanted <= found or (sampled and len(found & wanted) >= MOST_OF * max(len(wanted), len(found)))


def _classes(record: ClassCountsRecord, counted: Sequence[ClassCountsRecord]) -> set[str]:
    """Return the classes in a field of a loader, and of those that are made anew in its place, as in each epoch."""
    alike = [each for each in counted if each.source is Source.LOADER and each.field == record.field]
    return {name for each in alike if family_of(each.name) == family_of(record.name) for name in each.counts}


def family_of(loader: str) -> str:
    """Return the name that a loader shares with those that were made anew in its place."""
    return loader.partition("#")[0]


def _few(record: ClassCountsRecord) -> float:
    return record.num_few / max(record.num_batches, 1)
