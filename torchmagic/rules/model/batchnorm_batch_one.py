"""A batch norm in training mode gets batches of one sample.

*Symptom*: ``ValueError: Expected more than 1 value per channel when training``, often at the last batch of an epoch; or
a model that learns in training and is useless in evaluation.

*Why it happens*: batch norm subtracts the mean of the batch. The mean of one sample is the sample itself, or, for an
image, its own mean: what tells samples apart is taken away, and the running statistics follow each sample.

*What to try*: use a larger ``batch_size``, ``drop_last=True`` in the training loader, or ``nn.GroupNorm`` or
``nn.LayerNorm``, which do not look at other samples.

*Source*: Wu and He, "Group normalization", ECCV 2018; PyTorch issue 4534.
"""

from collections.abc import Iterator

from torchmagic.analyses.source_lines import lines_calling
from torchmagic.analyses.texts import places_by
from torchmagic.records.crash import CrashKind, CrashSiteRecord
from torchmagic.records.data import BatchRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import LoaderRecord
from torchmagic.records.note import CrashRecord
from torchmagic.records.structure import SingleSampleRecord
from torchmagic.rules.rule import Located, line_of, line_of_crash, rule
from torchmagic.session.run import Run

# A last batch of one is an accident; more than half of all is how the loader was made.
MAX_SHARE = 0.5
# A single forward may be a test of the model.
MIN_FORWARDS = 3
MESSAGE = "Expected more than 1 value per channel when training"


@rule
def batchnorm_batch_one(
    run: Run, *, max_share: float = MAX_SHARE, min_forwards: int = MIN_FORWARDS
) -> Iterator[Finding]:
    """Report the exception that a batch norm raised, or the first one that mostly got single samples."""
    crash = next((each for each in run.of(CrashRecord) if MESSAGE in each.message), None)
    if crash is not None:
        yield _raised(run, crash)
        return
    for record in run.of(SingleSampleRecord):
        if record.same_target:
            continue  # one picture that a network is fitted to: there is nothing that it could be told apart from
        if record.num_forwards >= min_forwards and record.num_single > max_share * record.num_forwards:
            yield _starved(run, record, max_share)
            return


def _raised(run: Run, crash: CrashRecord) -> Finding:
    given = crash.message.partition("got input size ")[2].removeprefix("torch.Size(").rstrip(")")
    found = next((each.module for each in run.of(CrashSiteRecord) if each.problem is CrashKind.SINGLE), None)
    return Finding(
        rule="batchnorm-batch-one",
        severity=Severity.ERROR,
        confidence=0.95,
        title=f"a batch norm in training mode was given one value a channel: {given or 'a single sample'}",
        module=found,
        **_place(run, crash),
        step=run.steps,
        evidence={"input": given or "one sample", "loader": _sizes(_loader(run))},
        why="The mean and variance of one value say nothing; often it is the last batch of an epoch that is short.",
        fix="DataLoader(..., drop_last=True), or nn.LayerNorm / nn.GroupNorm in place of the batch norm",
    )


def _starved(run: Run, record: SingleSampleRecord, max_share: float) -> Finding:
    return Finding(
        rule="batchnorm-batch-one",
        severity=Severity.ERROR,
        confidence=0.9,
        title=f"{record.module} normalises batches of one sample",
        module=record.module,
        **_place(run, None),
        step=0,
        evidence={
            "training forwards with one sample": f"{record.num_single} of {record.num_forwards}",
            "threshold": f"{max_share:.0%}",
            "loader": _sizes(_loader(run)),
        },
        why=f"{record.class_name} takes mean and variance of the batch: of one sample it removes what tells it apart.",
        fix="a larger batch_size, or nn.GroupNorm(1, channels)",
    )


def _loader(run: Run) -> LoaderRecord | None:
    """Return the loader that gives single samples, else the first."""
    loaders = run.of(LoaderRecord)
    single = {record.name for record in run.of(BatchRecord) if record.shape[:1] == (1,)}
    likely = [each for each in loaders if each.batch_size == 1 or each.name in single or _leaves_one(each)]
    return next(iter([*likely, *loaders]), None)


def _leaves_one(loader: LoaderRecord) -> bool:
    size, samples = loader.batch_size, loader.num_samples
    return bool(size and samples and not loader.drop_last and samples % size == 1)


def _sizes(loader: LoaderRecord | None) -> str:
    if loader is None or loader.num_samples is None:
        return "none seen" if loader is None else f"batches of {loader.batch_size}"
    return f"{loader.num_samples} samples in batches of {loader.batch_size}"


def _place(run: Run, crash: CrashRecord | None) -> Located:
    """Return the line that builds the loader, else the one that walks it, else the one that raised."""
    loader, built = _loader(run), places_by(run, lambda text: lines_calling(text, ("DataLoader",)))
    if loader is not None and built:
        named = [each for each in built if each.source.startswith((f"{loader.name} ", f"{loader.name}="))]
        return line_of(next(iter([*named, *built])))
    if loader is not None and loader.place is not None:
        return line_of(loader.place)
    return line_of_crash(crash) if crash is not None else line_of(None)
