"""This file is the class targets: of each loader that is trained on, how its classes are spread over the batches."""

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

    Where a loss got classes, the field has all of them, and as few others as any; of several such fields it is the one
    that is mixed best. Where all losses compare numbers, there is none.
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
            if each.source is Source.LOADER and each.name == loader.name and wanted <= set(each.counts)
        ]
        if fields:
            counts = min(fields, key=lambda each: (len(wanted ^ set(each.counts)) if wanted else 0, _few(each)))
            found.append(ClassTargets(loader=loader, use=use, counts=counts))
    return found


def _few(record: ClassCountsRecord) -> float:
    return record.num_few / max(record.num_batches, 1)
