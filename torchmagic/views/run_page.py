"""This file is the view of the run itself: how it was watched, on what machine, and what could not be seen."""

from collections.abc import Sequence

from torchmagic.analyses.run_facts import seed_of
from torchmagic.records.note import EnvironmentRecord, FailureRecord, NoteRecord
from torchmagic.session.run import Run
from torchmagic.views.numbers import as_number, as_seconds, as_share
from torchmagic.views.page import Block, Code, Facts, Fold, Page, Text

SHORT_COMMIT = 10  # as many letters as tell any commit of a large repository from the others
CHOSEN = ("level", "only", "also", "without", "anomaly", "every", "budget", "model")


def run_page(run: Run) -> Page:
    """Return the run's settings, environment, cost and notes, and, folded, the source that ran."""
    blocks: list[Block] = [Facts(rows=[*_account(run), *_settings(run), *_environment(run)])]
    blocks += [Text(text=f"{each.probe} failed and was off: {each.error}") for each in run.of(FailureRecord)]
    blocks += [Text(text=each.text) for each in run.of(NoteRecord)]
    if run.source.strip():
        blocks.append(Fold(title="Source", blocks=[Code(text=run.source.strip("\n"))]))
    return Page(title="Run", blocks=blocks)


def _account(run: Run) -> list[tuple[str, str]]:
    rows = [("run", str(run.number))] if run.number else []
    rows += [("note", run.note)] if run.note else []
    rows += [("tags", ", ".join(run.tags))] if run.tags else []
    rows.append(("steps", f"{run.steps:,}"))
    if run.clock.seconds:
        rows.append(("time", as_seconds(run.clock.seconds)))
        rows.append(("cost of watching", f"{as_seconds(run.clock.cost)} ({as_share(run.overhead)})"))
    return rows


def _settings(run: Run) -> list[tuple[str, str]]:
    return [(name, _said(run.settings[name])) for name in CHOSEN if run.settings.get(name)]


def _said(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, Sequence) and not isinstance(value, str) else str(value)


def _environment(run: Run) -> list[tuple[str, str]]:
    record = next(reversed(run.of(EnvironmentRecord)), None)
    if record is None:
        return []
    threads = as_number(record.num_threads) + (f" on {record.num_cores} cores" if record.num_cores else "")
    rows = [
        ("torch", record.torch),
        ("Python", record.python),
        ("device", ", ".join(record.devices) or record.device),
        ("threads", threads),
        ("system", record.platform),
        ("commit", record.commit[:SHORT_COMMIT] + (" and files not committed" if record.changed else "")),
        ("seed of torch", "" if (seed := seed_of(run)) is None else str(seed)),
        ("algorithms", "deterministic only" if record.deterministic else ""),
    ]
    return [(name, value) for name, value in rows if value]
