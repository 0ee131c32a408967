"""Every step trains on the same batch.

*Symptom*: the loss falls fast to almost nothing, and the model knows nothing of the other samples.

*Why it happens*: ``next(iter(loader))`` inside the loop begins anew each time; an index that does not use the loop's
variable; a seed that is set in each step; an input that lost its values, as by a division of integers.

*What to try*: ``for xb, yb in loader:``, or make the iterator once before the loop and call ``next`` on it.

*Source*: PyTorch forums on ``next(iter(loader))`` inside the loop; PyTorch documentation, "Iterable-style datasets".
"""

import math
from collections.abc import Iterator

from torchmagic.analyses.data_lines import fetch_line, goes_through_parts, reseeds_in_a_loop
from torchmagic.analyses.dataset_lines import lines_keeping_a_sample
from torchmagic.analyses.texts import beside, places_by, text_around
from torchmagic.records.data import BatchRecord, Source
from torchmagic.records.feeding import LoaderUseRecord, RepeatedInputRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import LoaderRecord
from torchmagic.records.place import Place
from torchmagic.rules.rule import Located, line_of, rule
from torchmagic.session.run import Run

# Steps in a row, as the same batch a few times over can be chance in a small dataset.
MIN_STEPS = 10
# Nearly all passes: one may have been begun to look at a batch.
MIN_SHARE = 0.9
# Without a loader, a batch is known from all the data by being so much smaller.
MIN_REST = 4.0
# What ``input_repeated`` is where a model got the very same tensor again: all the data at once.
SAME_OBJECT = 0.5


@rule
def constant_batch(run: Run, *, min_steps: int = MIN_STEPS, min_rest: float = MIN_REST) -> Iterator[Finding]:
    """Report loaders of which only the first batch is used, inputs that repeat, and inputs that are one value."""
    found = False
    for finding in _restarted(run, min_steps):
        found = True
        yield finding
    for record in run.of(RepeatedInputRecord) if not found else ():
        confidence = _confidence(run, record, min_rest)
        if record.num_steps < min_steps or not confidence:
            continue
        if _may_be_meant(run, record):
            yield _few_rows(run, record)
            continue
        found = True
        reseeded = _seeded_again(run, record) if not record.loader else ""
        yield Finding(
            rule="constant-batch",
            severity=Severity.ERROR,
            confidence=confidence,
            title=f"{record.model} got the same {record.num_rows} rows in {record.num_steps} steps one after the other",
            module=record.model,
            **_kept(run, record),
            step=record.step,
            evidence={
                "equal steps looked at": record.num_steps,
                "threshold": min_steps,
                "rows in the batch": record.num_rows,
                "rows at hand": record.num_known or "not known",
                **({"seeded again at": reseeded} if reseeded else {}),
            },
            why="Each step made a new batch with the values of the one before, so that the other samples are never "
            "used.",
            fix="for xb, yb in loader:  # or let the batch depend on the loop's variable",
        )
    if not found:
        yield from _of_one_value(run, min_steps)


def _restarted(run: Run, min_steps: int) -> Iterator[Finding]:
    """Report loaders in a fixed order that begin anew for each batch."""
    uses = {record.loader: record for record in run.of(LoaderUseRecord)}
    for record in run.of(LoaderRecord):
        use = uses.get(record.name)
        if use is None or record.shuffle is not False or not (record.num_batches or 0) > 1:
            continue
        if min(use.num_single, use.num_trained) < min_steps or use.num_single < MIN_SHARE * use.num_passes:
            continue
        yield Finding(
            rule="constant-batch",
            severity=Severity.ERROR,
            confidence=0.95,
            title=f"{record.name} begins anew in each step: only the first of {record.num_batches} batches is used",
            **line_of(use.place or record.place),
            evidence={
                "passes": use.num_passes,
                "that gave one batch": use.num_single,
                "threshold": min_steps,
                "batches in a pass": record.num_batches or "not known",
            },
            why="iter(loader) starts at the first batch again, and the order is fixed, so that every step gets it.",
            fix=f"for xb, yb in {record.name}:  # or batches = iter({record.name}) once, before the loop",
        )


def _confidence(run: Run, record: RepeatedInputRecord, min_rest: float) -> float:
    """Return how sure it is that not all the data were meant to be used at once; 0 where it cannot be told."""
    if record.loader:
        loader = next((each for each in run.of(LoaderRecord) if each.name == record.loader), None)
        return 0.95 if loader is not None and loader.num_batches != 1 else 0.0
    if record.num_known >= min_rest * record.num_rows:
        return 0.85
    return 0.8 if _seeded_again(run, record) else 0.0


def _seeded_again(run: Run, record: RepeatedInputRecord) -> str:
    """Return what seeds a random generator in each step; empty where nothing was found that does."""
    if record.reseeded is not None:
        return f"{record.reseeded.source}, in {record.reseeded.function}"
    found = places_by(run, reseeds_in_a_loop)
    return f"line {found[0].line}" if found else ""


def _may_be_meant(run: Run, record: RepeatedInputRecord) -> bool:
    """Whether all steps may be on the few rows that are for training: the model is evaluated on others."""
    if record.loader or not record.num_evaluated or _seeded_again(run, record):
        return False
    place = record.place
    text = text_around(run, place)
    return place is None or not text or not goes_through_parts(text, place.line)


def _few_rows(run: Run, record: RepeatedInputRecord) -> Finding:
    return Finding(
        rule="constant-batch",
        severity=Severity.INFO,
        confidence=0.5,
        title=f"{record.model} is trained on the same {record.num_rows} of {record.num_known} rows in each step",
        module=record.model,
        **_fetched(run, record.place, record.model),
        step=record.step,
        evidence={"equal steps looked at": record.num_steps, "rows evaluated at once": record.num_evaluated},
        why="That is right where these rows are all that is for training. Where they were to be one batch of many, the "
        "others are never used.",
        fix="xb = x[i : i + size]  # if these rows were to be one batch of many",
    )


def _of_one_value(run: Run, min_steps: int) -> Iterator[Finding]:
    """Report models whose inputs all hold one and the same number."""
    records = [each for each in run.of(BatchRecord) if each.source is Source.MODEL and each.training]
    for model in dict.fromkeys(record.name for record in records):
        mine = [record for record in records if record.name == model]
        fields = dict.fromkeys(record.field for record in mine)
        whole = all(len(record.shape) > 1 and record.shape[0] > 1 for record in mine)
        values = [_only_value(run, f"{model}[{field}]" if field else model, min_steps) for field in fields]
        same_object = SAME_OBJECT in run.series("input_repeated", name=model)[1]
        if not whole or same_object or any(value is None for value in values):
            continue
        yield Finding(
            rule="constant-batch",
            severity=Severity.ERROR,
            confidence=0.85,
            title=f"every value that {model} is given is {values[0]:g}",
            module=model,
            **_fetched(run, None, model),
            step=mine[0].step,
            evidence={"value": float(values[0] or 0.0), "threshold": min_steps},
            why="The samples do not differ, so that there is nothing to learn from: the values were lost on the way.",
            fix="print(xb.min(), xb.max())  # where the data are built: a division of integers, a wrong type",
        )


def _only_value(run: Run, subject: str, min_steps: int) -> float | None:
    """Return the only value that was seen at each of enough looks at a tensor."""
    _, lows = run.series("batch_low", name=subject)
    _, highs = run.series("batch_high", name=subject)
    seen = {*lows, *highs}
    value = next(iter(seen), math.nan)
    return value if len(lows) >= min_steps and len(seen) == 1 and math.isfinite(value) else None


def _kept(run: Run, record: RepeatedInputRecord) -> Located:
    """Return the line of the dataset that keeps one sample for good; else that which fetches the batch."""
    kept = places_by(run, lines_keeping_a_sample) if record.loader else []
    return line_of(kept[0]) if len(kept) == 1 else _fetched(run, record.place, record.model)


def _fetched(run: Run, place: Place | None, model: str) -> Located:
    """Return the line that fetches the batch, where the cell says it."""
    text = text_around(run, place)
    return line_of(beside(run, place, fetch_line(text, place, model)) if place is not None and text else place)
