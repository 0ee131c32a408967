"""This file is the view of a run's progress: how far it has come, how fast, and where its steps spend their time."""

from torchmagic.analyses.time_split import PHASES
from torchmagic.session.run import Run, Status
from torchmagic.views.numbers import as_number, as_seconds
from torchmagic.views.page import Block, Facts, Page, Shares

WORDS = {"data": "waiting for data", "torchmagic": "torchmagic"}


def progress_page(run: Run) -> Page:
    """Return how far a running training has come; nothing once it has ended, or before its first step."""
    progress = getattr(run, "progress", None)
    if progress is None or run.status is not Status.RUNNING:
        return Page(title="Progress", blocks=[])
    rows = [("steps", f"{run.steps:,}")]
    if progress.seconds_per_step:
        rows.append(("time per step", as_seconds(progress.seconds_per_step)))
    if progress.batch:
        of = f" of {as_number(progress.batches)}" if progress.batches else ""
        rows.append((f"batch of pass {progress.epoch}", f"{as_number(progress.batch)}{of}"))
    if progress.seconds_left is not None:
        rows.append(("left of this pass", as_seconds(progress.seconds_left)))
    blocks: list[Block] = [Facts(rows=rows)]
    known = {name: progress.shares[name] for name in (*PHASES, "torchmagic") if name in progress.shares}
    if any(known.values()) and progress.seconds_per_step:
        parts = [(WORDS.get(name, name), share * progress.seconds_per_step) for name, share in known.items()]
        blocks.append(Shares(title="Where a step of late spends its time", parts=parts, unit="s"))
    return Page(title="Progress", blocks=blocks)
