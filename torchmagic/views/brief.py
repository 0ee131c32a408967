"""This file is the view of a run in few lines: findings whole, and of everything else what one would ask first."""

import math
from collections.abc import Iterator, Sequence
from itertools import islice

from torchmagic.analyses.counting import counted
from torchmagic.analyses.time_split import time_split
from torchmagic.records.note import EnvironmentRecord
from torchmagic.records.profile import ProfileRecord
from torchmagic.session.run import Run, Status
from torchmagic.views.curves import curves_page
from torchmagic.views.findings import findings_page, headline
from torchmagic.views.lost import lost_pages
from torchmagic.views.memory import memory_facts
from torchmagic.views.numbers import as_number, as_seconds, as_share
from torchmagic.views.page import Block, Facts, Findings, Line, Page, Plot, Text
from torchmagic.views.pages import is_profile_alone, run_pages
from torchmagic.views.profile_pages import profile_pages
from torchmagic.views.resources import NAMES
from torchmagic.views.skins.line_summary import line_sentence, line_summary
from torchmagic.views.skins.text import as_text

Row = tuple[str, str]

# What the headline says already.
SAID = {"steps", "time", "cost of watching"}
# Pages of which rows of their own are told, and those that hold only numbers; of any other one its first sentence is.
TOLD = {"Findings", "Curves", "Parameters", "Memory & time", "Activations", "Data", "Snapshots"}
# Of runs with many models, loaders or losses the rest is counted: who asks for more has the whole.
MOST_ROWS, MOST_CURVES, MOST_NOTES, LONGEST = 28, 6, 5, 150
LEAST_SHARE = 0.01
UNTOLD = {"other", "torchmagic"}  # of the time; the headline tells what we cost
LONGEST_NAME = 18  # a column of long names leaves little room beside it
EVALUATION = "evaluation: "
PEAK = ", peak"


def run_text(run: Run, *, full: bool = False, more: str = "") -> str:
    """Return a run as plain text.

    Args:
        run: The run.
        full: Whether all its pages are told, and not only what one would ask first.
        more: Where the rest is to be had, as the last line; empty for none.
    """
    if full:
        return as_text(lost_pages(run) if run.status is Status.LOST else run_pages(run), title=headline(run))
    pages = run_pages(run)[:1] if is_profile_alone(run) else [brief_page(run)]
    title = headline(run) if is_profile_alone(run) else ""
    told = as_text([*pages, *(profile_pages(run) if run.of(ProfileRecord) else [])], title=title)
    return told + (f"\n\n{more}" if more else "")


def brief_page(run: Run) -> Page:
    """Return the findings, what was watched, where its curves began and ended, and what it took; no tables."""
    first = findings_page(run).blocks
    given = [row for block in first if isinstance(block, Facts) for row in block.rows if row[0] not in SAID]
    blocks: list[Block] = [Text(text=headline(run))]
    if run.status is Status.LOST:
        blocks += [each for each in lost_pages(run)[0].blocks if isinstance(each, Text | Findings)]
    else:
        blocks += [each for each in first if isinstance(each, Findings) or (isinstance(each, Text) and each.strong)]
    blocks.append(Facts(rows=list(_bounded([*given, *_rows(run)]))))
    notes = [each for each in first if isinstance(each, Text) and not each.strong]
    blocks += notes[:MOST_NOTES]
    if len(notes) > MOST_NOTES:
        blocks.append(Text(text=f"{len(notes) - MOST_NOTES} more notes."))
    return Page(title="", blocks=blocks)


def _bounded(rows: Sequence[Row]) -> Iterator[Row]:
    for name, value in rows[:MOST_ROWS]:
        word, colon, rest = name.partition(": ") if len(name) > LONGEST_NAME else (name, "", "")
        told = f"{rest}{colon}{value}"
        yield word, told if len(told) <= LONGEST else f"{told[: LONGEST - 1]}…"
    if len(rows) > MOST_ROWS:
        yield "…", f"{len(rows) - MOST_ROWS} more"


def _rows(run: Run) -> Iterator[Row]:
    yield from islice(_curves(run), 2 * MOST_CURVES)
    yield from _parameters(run)
    for page in run_pages(run):
        first = next((block.text for block in page.blocks[:1] if isinstance(block, Text)), "")
        if first and page.title not in TOLD:
            yield page.title.lower(), first
    yield from _time(run)
    yield from _memory(run)
    for record in run.of(EnvironmentRecord)[-1:]:
        threads = counted(record.num_threads, "thread")
        yield "environment", f"torch {record.torch}, Python {record.python}, {record.device}, {threads}"


def _curves(run: Run) -> Iterator[Row]:
    """Say each curve from its first to its last value, and the first of what else is told under its name."""
    page = curves_page(run)
    told = {name: value for block in page.blocks if isinstance(block, Facts) for name, value in block.rows}
    for block in page.blocks:
        if isinstance(block, Plot):
            said: dict[str, str] = {}
            for line in block.lines[:MOST_CURVES]:
                more = told.pop(line.name, "") if line.name.startswith(EVALUATION) else ""
                course = ", ".join(filter(None, (_course(line), more.partition(";")[0])))
                said.setdefault(course, _title(block, line))  # a norm that clipping left alone is told once
            yield from ((name, course) for course, name in said.items())
    yield from ((name, value.partition(";")[0]) for name, value in told.items())


def _title(plot: Plot, line: Line) -> str:
    if plot.title == "loss":
        return line.name if line.name.startswith(EVALUATION) or "loss" in line.name.lower() else f"loss: {line.name}"
    return plot.title if line.name in {"total", plot.title} or len(plot.lines) == 1 else f"{plot.title}, {line.name}"


def _course(line: Line) -> str:
    """Say where a curve began, ended and turned; extremes that are its ends are said once."""
    found = line_summary(line)
    if found.first is None or found.num_not_finite:
        return line_sentence(line)
    ends = {found.first, found.last}
    said = f"{as_number(found.first)} → {as_number(found.last)}" if len(line.values) > 1 else as_number(found.first)
    turns = [
        f"{word} {as_number(value)}" for word, value in (("min", found.low), ("max", found.high)) if value not in ends
    ]
    return ", ".join([said, *turns])


def _parameters(run: Run) -> Iterator[Row]:
    """Say between which parameters gradients and updates lie."""
    rows = run.parameters
    for metric, name, what in (
        ("grad_norm", "gradients, latest", "norm"),
        ("update_ratio", "updates, latest", "ratio"),
    ):
        known = [(row[metric], row["name"]) for row in rows if row[metric] is not None and math.isfinite(row[metric])]
        if known:
            (least, at_least), (most, at_most) = min(known), max(known)
            spread = f"{as_number(least)} ({at_least})" + (
                f" … {as_number(most)} ({at_most})" if len(known) > 1 else ""
            )
            yield name, f"{what} {spread}"


def _time(run: Run) -> Iterator[Row]:
    split = time_split(run)
    total = sum(split.values()) or 1.0
    shares = {name: seconds / total for name, seconds in split.items() if name not in UNTOLD}
    told = [f"{NAMES.get(name, name)} {as_share(share)}" for name, share in shares.items() if share >= LEAST_SHARE]
    if run.steps and run.clock.seconds:
        told.insert(0, f"{as_seconds((run.clock.seconds - run.clock.cost) / run.steps)} a step")
    if told:
        yield "time", ", ".join(told)


def _memory(run: Run) -> Iterator[Row]:
    told = [f"{name.removesuffix(PEAK)} {value}" for name, value in memory_facts(run) if name.endswith(PEAK)]
    if told:
        words = ", ".join(told).replace("memory of the model", "model").replace(" memory ", " ")
        yield "memory, peak", words.replace(" over the run", "")
