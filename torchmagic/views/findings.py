"""This file is the view of a run's findings: what is wrong, where, and what to do."""

from torchmagic.analyses.counting import counted
from torchmagic.analyses.ranks_steps import told_steps
from torchmagic.analyses.verdict import verdict
from torchmagic.records.loop import HandStepsRecord
from torchmagic.records.model import LoaderRecord, ModelRecord, OptimizerRecord
from torchmagic.records.note import CrashRecord, FailureRecord, NoteRecord
from torchmagic.session.run import Run, Status
from torchmagic.views.numbers import as_count, as_seconds, as_share
from torchmagic.views.page import Block, Facts, Findings, Page, Text

# Tensors that are named where a loop steps by hand.
MOST_NAMES = 6


def findings_page(run: Run) -> Page:
    """Return findings first, then what was watched and what it cost."""
    blocks: list[Block] = [Text(text=_lead(run), strong=True)]
    if run.findings:
        blocks.append(Findings(findings=run.findings))
    blocks.append(Facts(rows=_facts(run)))
    blocks.extend(Text(text=_failure(record)) for record in run.of(FailureRecord))
    blocks.extend(Text(text=record.text) for record in run.of(NoteRecord))
    return Page(title="Findings", blocks=blocks)


def headline(run: Run) -> str:
    """Return the run's heading: number and name, how it ended, steps, time, cost, findings."""
    parts = [called(run), run.status.value, counted(told_steps(run), "step")]
    if run.status is not Status.RUNNING:
        parts += [as_seconds(run.clock.seconds), f"cost {as_share(run.overhead)}", verdict(run)]
    return " · ".join(parts)


def called(run: Run, *, nameless: str = "torchdebug") -> str:
    """Return what stands for a run in its own heading: its number, by which commands ask for it, and its name.

    Args:
        run: The run.
        nameless: For a run that has neither.
    """
    number = f"run {run.number}" if run.number else ""
    return ": ".join(filter(None, (number, run.name))) or nameless


def _lead(run: Run) -> str:
    crash = next(iter(run.of(CrashRecord)), None)
    ended = _end(crash) if crash else ""
    if run.status is Status.RUNNING:
        return f"Running, step {run.steps}: {verdict(run)} so far."
    if run.status is Status.LOST:
        ended = f"The kernel died after {counted(run.steps, 'step')}. "
        return ended + (f"{verdict(run).capitalize()} up to then.")
    if run.findings:
        return ended + verdict(run).capitalize() + "."
    steps = told_steps(run)
    if not steps:
        return ended + "No optimizer stepped in this cell, so there was little to judge."
    return ended + f"Nothing found wrong in {counted(steps, 'step')}."


def _end(crash: CrashRecord) -> str:
    where = f" at line {crash.line} ({crash.source})" if crash.line else ""
    return f"The cell ended with {crash.error}{where}. "


def _facts(run: Run) -> list[tuple[str, str]]:
    rows = [
        ("model", f"{record.name} ({record.class_name}, {as_count(record.num_trainable)} trainable parameters)")
        for record in run.of(ModelRecord)
    ]
    rows += [
        (
            "optimizer",
            f"{record.name} ({record.class_name}, lr {', '.join(f'{lr:g}' for lr in dict.fromkeys(record.lr))})",
        )
        for record in run.of(OptimizerRecord)
    ]
    rows += [("optimizer", _by_hand(record)) for record in run.of(HandStepsRecord)]
    rows += [("loader", _loader(record)) for record in run.of(LoaderRecord)]
    rows.append(("steps", f"{told_steps(run):,}"))
    if run.clock.seconds:
        rows.append(("time", as_seconds(run.clock.seconds)))
        rows.append(("cost of watching", f"{as_share(run.overhead)} of that ({as_seconds(run.clock.cost)})"))
    return rows


def _by_hand(record: HandStepsRecord) -> str:
    names, more = record.parameters[:MOST_NAMES], len(record.parameters) - MOST_NAMES
    return f"none: the loop itself changes {', '.join(names)}{f' and {more} more' if more > 0 else ''}"


def _loader(record: LoaderRecord) -> str:
    size = f"batches of {record.batch_size}" if record.batch_size else "batches of any size"
    number = f"{record.num_batches} " if record.num_batches is not None else ""
    workers = f", {counted(record.num_workers, 'worker')}" if record.num_workers else ""
    return f"{record.name} ({number}{size}, {record.sampler}{workers})"


def _failure(record: FailureRecord) -> str:
    return f"{record.probe} failed and was off for the rest of the run: {record.error} {record.where}".rstrip()
