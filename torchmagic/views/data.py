"""This file is the view of a run's data: its loaders, what their batches hold, and samples that are bad."""

from collections.abc import Sequence

from torchmagic.records.data import BadSampleRecord, BatchRecord, ClassCountsRecord, Source
from torchmagic.records.model import LoaderRecord
from torchmagic.session.ends import latest
from torchmagic.session.run import Run
from torchmagic.views.numbers import as_number, as_shape, as_share
from torchmagic.views.page import Block, Cell, Facts, Fold, Page, Shares, Table, Text

# More classes than these are told by their extremes.
MOST_CLASSES = 12
ENDS = 3
WHERE = {Source.LOADER: "from {}", Source.MODEL: "into {}", Source.LOSS: "into {}"}


def data_page(run: Run) -> Page:
    """Return loaders with their waits, the batches as first seen, bad samples, and classes; empty without a batch."""
    blocks: list[Block] = []
    loaders, batches, bad = _loaders(run), run.of(BatchRecord), run.of(BadSampleRecord)
    if loaders or batches or bad:
        blocks.append(Text(text=_lead(run)))
    if bad:
        blocks.append(_bad_samples(bad))
    if loaders:
        blocks.append(_loader_table(loaders))
    if batches:
        first: dict[tuple[str, str, str], BatchRecord] = {}
        for each in batches:
            first.setdefault((each.source, each.name, each.field), each)
        blocks.append(_batches(list(first.values())))
        if len(batches) > len(first):
            blocks.append(Fold(title="Every kind of batch seen", blocks=[_batches(batches, steps=True)]))
    blocks += _repeats(run) + _classes(run)
    return Page(title="Data", blocks=blocks, folded=True)


def _lead(run: Run) -> str:
    told = []
    loaders = list({record.name: record for record in run.of(LoaderRecord)}.values())
    if loaders:
        told.append(", ".join(_size(record) for record in loaders) + ".")
    waited = sum(run.series("seconds", name="data")[1])
    if waited and run.clock.seconds:
        told.append(f"{as_share(waited / run.clock.seconds)} of the time went into waiting for batches.")
    bad = len(run.of(BadSampleRecord))
    if bad:
        told.append(f"{bad} sample{' holds' if bad == 1 else 's hold'} NaN or infinite values.")
    return " ".join(told) or f"{_seen(run.of(BatchRecord)[0])}."


def _seen(record: BatchRecord) -> str:
    where = WHERE[record.source].format(record.name)
    return f"{where}: {as_shape(record.shape)} {record.dtype}, {as_number(record.low)} to {as_number(record.high)}"


def _size(record: LoaderRecord) -> str:
    samples = "a stream of samples" if record.num_samples is None else f"{record.num_samples} samples"
    return f"{record.name}: {samples}"


def _loaders(run: Run) -> list[tuple[str, dict[str, Cell]]]:
    waits = {name: run.series("batch_wait", name=name)[1] for name in run.subjects("batch_wait")}
    rows: list[tuple[str, dict[str, Cell]]] = []
    for record in {each.name: each for each in run.of(LoaderRecord)}.values():
        wait = waits.get(record.name, [])
        rows.append(
            (
                record.name,
                {
                    "dataset": record.dataset,
                    "samples": record.num_samples,
                    "batch size": record.batch_size,
                    "batches": record.num_batches,
                    "order": _order(record),
                    "workers": record.num_workers,
                    "ahead": record.prefetch_factor,
                    "pinned": "yes" if record.pin_memory else None,
                    "last batch": "dropped" if record.drop_last else None,
                    "mean wait, ms": 1e3 * sum(wait) / len(wait) if wait else None,
                    "longest, ms": 1e3 * max(wait) if wait else None,
                },
            )
        )
    return rows


def _order(record: LoaderRecord) -> str:
    if record.shuffle is None:
        return record.sampler
    return "shuffled" if record.shuffle else "fixed"


def _loader_table(loaders: Sequence[tuple[str, dict[str, Cell]]]) -> Table:
    """Return the loaders under the columns in which any of them says something."""
    names = [name for name in loaders[0][1] if any(row[name] not in (None, "") for _, row in loaders)]
    return Table(columns=("loader", *names), rows=[[name, *(row[key] for key in names)] for name, row in loaders])


def _batches(records: Sequence[BatchRecord], *, steps: bool = False) -> Table:
    plain = all(each.layout == "contiguous" and each.device == "cpu" for each in records)
    columns = ["batch", "field", "shape", "type", "low", "high", "mean", "std"]
    rows: list[list[Cell]] = [
        [
            WHERE[each.source].format(each.name),
            each.field,
            as_shape(each.shape),
            each.dtype,
            each.low,
            each.high,
            each.mean,
            each.std,
            *([] if plain else [f"{each.layout} on {each.device}"]),
            *([each.step] if steps else []),
        ]
        for each in records
    ]
    return Table(columns=[*columns, *([] if plain else ["lies"]), *(["first at step"] if steps else [])], rows=rows)


def _bad_samples(records: Sequence[BadSampleRecord]) -> Table:
    columns = ("sample", "loader", "field", "epoch", "batch", "row", "NaN", "infinite", "step")
    rows: list[list[Cell]] = [
        [
            "index unknown" if each.index is None else f"dataset[{each.index}]",
            each.loader,
            each.field,
            each.epoch,
            each.batch,
            each.row,
            each.num_nan,
            each.num_infinite,
            each.step,
        ]
        for each in records
    ]
    return Table(columns=columns, rows=rows)


def _repeats(run: Run) -> list[Block]:
    shuffled = {record.name for record in run.of(LoaderRecord) if record.shuffle}
    rows = [
        (f"order of {name}", f"{as_share(share)} of the batches came at the same place as in the pass before")
        for name, share in latest(run, "order_repeated").items()
        if share > 0 and name in shuffled
    ]
    rows += [
        (f"repeats in {name}", f"{as_share(share)} of the batches of a pass equal an earlier one")
        for name, share in latest(run, "repeated_batches").items()
        if share > 0
    ]
    return [Facts(rows=rows)] if rows else []


def _classes(run: Run) -> list[Block]:
    """Tell class counts; those that a loss got only where no loader gave classes."""
    records = run.of(ClassCountsRecord)
    given = [each for each in records if each.source is Source.LOADER] or records
    blocks: list[Block] = [
        Shares(title=f"classes {WHERE[each.source].format(each.name)}", parts=_parts(each), unit="samples")
        for each in given
        if len(each.counts) <= MOST_CLASSES
    ]
    many = [each for each in given if len(each.counts) > MOST_CLASSES]
    if many:
        told = [(f"classes {WHERE[each.source].format(each.name)}", _extremes(each)) for each in many]
        blocks.append(Facts(rows=told))
    return [Fold(title="Classes in the batches looked at", blocks=blocks)] if blocks else []


def _parts(record: ClassCountsRecord) -> list[tuple[str, float]]:
    return [(name, float(count)) for name, count in record.counts.items()]


def _extremes(record: ClassCountsRecord) -> str:
    order = sorted(record.counts.items(), key=lambda pair: pair[1])
    rare = ", ".join(f"{name} ({count})" for name, count in order[:ENDS])
    frequent = ", ".join(f"{name} ({count})" for name, count in order[: -ENDS - 1 : -1])
    return f"{len(order)}; most samples: {frequent}; fewest: {rare}"
