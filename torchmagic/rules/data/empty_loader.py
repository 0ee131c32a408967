"""A loader that is gone through gives no batch at all, or none after its first pass.

*Symptom*: the loop body never runs; the loss is not defined after it, or a mean is divided by zero.

*Why it happens*: ``drop_last=True`` with fewer samples than one batch, a filter or a split that left nothing, a wrong
folder. A stream that keeps its reader or generator gives all its samples in the first pass, and none afterwards.

*What to try*: print ``len(dataset)`` and ``len(loader)`` once; take a smaller ``batch_size`` or leave ``drop_last``.

*Source*: PyTorch documentation, ``torch.utils.data.DataLoader``; Humbatova et al., ICSE 2020 (training data).
"""

from collections.abc import Iterator

from torchmagic.analyses.dataset_lines import lines_keeping_an_iterator
from torchmagic.analyses.loader_lines import line_of_loader
from torchmagic.analyses.texts import places_by
from torchmagic.records.feeding import LoaderUseRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import LoaderRecord
from torchmagic.records.note import CrashRecord
from torchmagic.rules.rule import line_of, line_of_crash, only_line, rule
from torchmagic.session.run import Run

# What torch says where it refuses to shuffle nothing.
REFUSED = "num_samples should be a positive integer value, but got num_samples=0"


@rule
def empty_loader(run: Run) -> Iterator[Finding]:
    """Report each loader that was gone through and never gave a batch, or was used up by its first pass."""
    uses = {record.loader: record for record in run.of(LoaderUseRecord)}
    for record in run.of(LoaderRecord):
        use = uses.get(record.name)
        if use is not None and use.num_empty and not use.num_batches:
            yield _finding(record, use)
        elif use is not None and record.num_samples is None and use.num_passes - use.num_empty == 1 <= use.num_empty:
            yield _used_up(run, record, use)
    for crash in run.of(CrashRecord):
        if crash.message.startswith(REFUSED):
            yield Finding(
                rule="empty-loader",
                severity=Severity.ERROR,
                confidence=0.97,
                title="a loader is made for a dataset that has no samples",
                **line_of_crash(crash),
                evidence={"samples": 0},
                why="There is nothing to shuffle, so that torch refuses to make the loader.",
                fix="print(len(dataset))  # a filter, a split or a folder left nothing",
            )


def _used_up(run: Run, record: LoaderRecord, use: LoaderUseRecord) -> Finding:
    return Finding(
        rule="empty-loader",
        severity=Severity.ERROR,
        confidence=0.95 if use.num_empty > 1 else 0.75,
        title=f"{record.name} gives batches in its first pass only: its stream is used up then",
        **only_line(places_by(run, lines_keeping_an_iterator), line_of_loader(record, use.place)),
        evidence={
            "batches in the first pass": use.num_batches,
            "passes without a batch": use.num_empty,
            "dataset": record.dataset,
        },
        why="An iterator can be gone through once; the dataset keeps one, and goes on where the pass before it ended.",
        fix="make the reader or generator in __iter__, so that each pass begins with a new one",
    )


def _finding(record: LoaderRecord, use: LoaderUseRecord) -> Finding:
    dropped = record.drop_last and record.num_samples and record.batch_size
    if dropped:
        why = f"drop_last leaves out the only batch: {record.num_samples} samples are fewer than {record.batch_size}."
        fix = f"batch_size={record.num_samples}  # or drop_last=False"
    elif record.num_samples == 0:
        why, fix = "Its dataset has no samples.", "print(len(dataset))  # a filter, a split or a folder left nothing"
    else:
        why, fix = "Neither its dataset nor its sampler gave a sample.", "next(iter(dataset))  # what does it give?"
    return Finding(
        rule="empty-loader",
        severity=Severity.ERROR,
        confidence=0.97,
        title=f"{record.name} gives no batch: "
        + (f"{record.num_samples} samples" if record.num_samples is not None else "a stream without samples"),
        **line_of(line_of_loader(record, use.place)),
        evidence={
            "samples": "not known" if record.num_samples is None else record.num_samples,
            "batch size": "not known" if record.batch_size is None else record.batch_size,
            "drop_last": str(record.drop_last),
            "passes without a batch": use.num_empty,
        },
        why=why,
        fix=fix,
    )
