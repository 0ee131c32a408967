"""This file is the view of a run's devices and precision, where these are more than a CPU and float32."""

from collections import Counter
from collections.abc import Iterator, Sequence

from torchmagic.analyses.counting import counted
from torchmagic.records.device import Cargo, DeviceRecord, DeviceTotal, TransferRecord
from torchmagic.records.model import ParameterRecord
from torchmagic.records.precision import (
    AutocastBackwardRecord,
    AutocastRecord,
    Deed,
    GradScalerRecord,
    HalfWeightsRecord,
    ScaledGradientsRecord,
    ScalerUseRecord,
    SkippedStepRecord,
)
from torchmagic.session.run import Run
from torchmagic.views.numbers import as_bytes, as_number
from torchmagic.views.page import Block, Cell, Facts, Line, Page, Plot, Table, Text

CARGO = {Cargo.BATCH: "batches", Cargo.INPUT: "inputs of the model", Cargo.LOSS: "the loss"}
DEED = {Deed.CLIP: "clipped", Deed.STEP: "applied"}
HEADROOM = (
    ("activation", "activation_headroom"),
    ("gradient", "grad_headroom"),
    ("weight", "weight_headroom"),
)
MOST_ROWS, MOST_STEPS = 8, 6


def precision_page(run: Run) -> Page:
    """Return devices, copies between them, autocast and loss scaling; empty where all is float32 on one CPU."""
    facts = [*_devices(run), *_types(run), *_autocast(run), *_scaling(run)]
    blocks: list[Block] = []
    copies = run.of(TransferRecord)
    if facts or copies:
        blocks.append(Text(text=_lead(run)))
    if facts:
        blocks.append(Facts(rows=facts))
    if copies:
        blocks.append(_copies(copies))
    steps, scales = run.series("grad_scale")
    if len(set(scales)) > 1:
        blocks.append(Plot(title="gradient scale", lines=[Line(name="scale", steps=steps, values=scales)], log=True))
    room = _headroom(run)
    if room.rows:
        blocks.append(room)
    return Page(title="Precision", blocks=blocks, folded=True)


def _lead(run: Run) -> str:
    """Say in one line what is more than a CPU and float32."""
    devices = [total.device for record in run.of(DeviceRecord) for total in record.parameters]
    types = [record.dtype for record in run.of(ParameterRecord)]
    told = [", ".join(dict.fromkeys([*devices, *types]))] if types else []
    autocast = dict.fromkeys(record.dtype for record in run.of(AutocastRecord) if record.enabled)
    if autocast:
        told.append(f"autocast to {', '.join(autocast)}")
    if any(record.enabled for record in run.of(GradScalerRecord)):
        told.append("gradients scaled")
    skipped, copies = len(run.of(SkippedStepRecord)), run.of(TransferRecord)
    if skipped:
        told.append(f"{counted(skipped, 'step')} skipped")
    if copies:
        told.append("copies between devices in each step")
    return f"{'; '.join(told) or 'Mixed precision'}."


def _devices(run: Run) -> Iterator[tuple[str, str]]:
    newest = {record.model: record for record in run.of(DeviceRecord)}
    for record in newest.values():
        parts = [
            f"{name} on {_totals(totals)}"
            for name, totals in (("parameters", record.parameters), ("buffers", record.buffers))
            if totals
        ]
        inputs = list(dict.fromkeys(each.device for each in record.inputs))
        devices = [*(total.device for total in (*record.parameters, *record.buffers)), *inputs]
        if any(device != "cpu" for device in devices):
            yield f"devices of {record.model}", ", ".join([*parts, *(f"inputs on {device}" for device in inputs)])


def _totals(totals: Sequence[DeviceTotal]) -> str:
    return " and ".join(f"{each.device} ({as_bytes(each.num_bytes)})" for each in totals)


def _types(run: Run) -> Iterator[tuple[str, str]]:
    count = Counter(record.dtype for record in run.of(ParameterRecord))
    if set(count) - {"float32"}:
        yield "parameter types", ", ".join(f"{dtype} ({number})" for dtype, number in count.most_common())
    for record in {each.model: each for each in run.of(HalfWeightsRecord)}.values():
        told = f"{record.num_half} of {record.num_parameters} parameters are {record.dtype}"
        yield f"half weights of {record.model}", told


def _autocast(run: Run) -> Iterator[tuple[str, str]]:
    for record in run.of(AutocastRecord):
        if record.enabled:
            where = ", opened in its own forward" if record.inside else ""
            told = f"{record.dtype} on {record.device_type} from step {record.step}{where}"
        else:
            told = f"also without, from step {record.step}"
        yield f"autocast of {record.model}", told
    for backward in run.of(AutocastBackwardRecord)[:1]:
        yield "backward inside autocast", f"from step {backward.step}{_line(backward)}; call it after the block"


def _scaling(run: Run) -> Iterator[tuple[str, str]]:
    for record in run.of(GradScalerRecord):
        if record.enabled:
            told = (
                f"scale {as_number(record.scale)} at first, × {as_number(record.growth_factor)} every "
                f"{record.growth_interval} steps, × {as_number(record.backoff_factor)} after an overflow"
            )
            yield f"GradScaler of {record.optimizer}", told
        else:
            yield f"GradScaler of {record.optimizer}", "not enabled"
    for use in run.of(ScalerUseRecord)[-1:]:
        yield "loss scaling", _use(use)
    skipped = run.of(SkippedStepRecord)
    if skipped:
        steps = ", ".join(str(record.step) for record in skipped[:MOST_STEPS])
        more = f" and {len(skipped) - MOST_STEPS} more" if len(skipped) > MOST_STEPS else ""
        yield "skipped steps", f"{steps}{more}"
    for scaled in run.of(ScaledGradientsRecord)[:1]:
        told = f"{DEED[scaled.deed]} at step {scaled.step}{_line(scaled)}; call scaler.unscale_(optimizer) before"
        yield "gradients still scaled", told


def _use(use: ScalerUseRecord) -> str:
    counts = (
        ("losses scaled", use.num_scaled),
        ("unscaled by hand", use.num_unscaled),
        ("steps", use.num_steps),
        ("skipped", use.num_skipped),
        ("updates of the scale", use.num_updates),
        ("steps past the scaler", use.num_past),
    )
    return ", ".join(f"{name} {number}" for name, number in counts if number)


def _line(record: AutocastBackwardRecord | ScaledGradientsRecord | TransferRecord) -> str:
    return f", line {record.place.line}" if record.place else ""


def _copies(records: Sequence[TransferRecord]) -> Table:
    newest = {(each.what, each.model, each.source, each.target): each for each in records}
    rows: list[list[Cell]] = [
        [
            CARGO[each.what],
            each.model,
            f"{each.source} → {each.target}",
            as_bytes(each.num_bytes),
            "" if each.pinned is None else "yes" if each.pinned else "no",
            f"{each.place.line}: {each.place.source}" if each.place else "",
        ]
        for each in newest.values()
    ]
    return Table(columns=("copied each step", "model", "way", "size", "pinned", "line"), rows=rows)


def _headroom(run: Run) -> Table:
    """Return what came closest to the greatest number of its half type, and how much was too small for it."""
    least: list[tuple[float, str, str]] = []
    for kind, metric in HEADROOM:
        for name in run.subjects(metric):
            values = [value for value in run.series(metric, name=name)[1] if value == value]  # noqa: PLR0124 - no NaN
            if values:
                least.append((min(values), kind, name))
    rows: list[list[Cell]] = [[name, kind, bits] for bits, kind, name in sorted(least)[:MOST_ROWS]]
    return Table(columns=("closest to overflow", "of", "bits of headroom"), rows=rows)
