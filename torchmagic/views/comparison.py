"""This file is the view of a comparison: in what runs differ, from their verdict down to their source."""

from collections.abc import Iterator, Sequence

from torchmagic.analyses.finding_difference import without_match
from torchmagic.analyses.results import results
from torchmagic.analyses.run_differences import differences, has_source, other_texts
from torchmagic.analyses.run_facts import Value
from torchmagic.analyses.source_difference import source_difference
from torchmagic.session.run import Run
from torchmagic.views.change import as_change
from torchmagic.views.comparison_curves import curve_plots
from torchmagic.views.comparison_losses import judgement
from torchmagic.views.comparison_parameters import parameter_blocks
from torchmagic.views.comparison_verdict import verdict_sentence
from torchmagic.views.numbers import as_amount, as_number, as_share
from torchmagic.views.page import Block, Cell, Diff, Facts, Fold, Page, Table, Text
from torchmagic.views.run_names import labels, run_names
from torchmagic.views.words import joined

LEAST_RUNS = 2
# Of a longer difference of sources, so many lines are shown.
MOST_LINES = 120


def comparison_page(runs: Sequence[Run]) -> Page:
    """Return the verdict, then results, curves, findings, what was given to the runs, their parameters and sources.

    Args:
        runs: Two runs or more; the others are told against the first.

    Raises:
        ValueError: If there are fewer than two.
    """
    if len(runs) < LEAST_RUNS:
        raise ValueError(f"a comparison wants two runs or more, got {len(runs)}")
    names, columns = run_names(runs), labels(runs)
    blocks: list[Block] = [
        Text(text=verdict_sentence(runs[0], run, of=names[0], name=name), strong=True)
        for run, name in zip(runs[1:], names[1:], strict=True)
    ]
    said = judgement(runs, names)
    if said:
        blocks.append(Fold(title="How the losses were judged", blocks=[Text(text=said)]))
    blocks.append(_results(runs, columns))
    blocks += _given(runs, columns)
    blocks += _findings(runs, names)
    blocks += curve_plots(runs, columns)
    blocks += parameter_blocks(runs, names)
    blocks += _sources(runs, names)
    title = joined(names)
    return Page(title=f"{title[:1].upper()}{title[1:]}", blocks=blocks)


def _results(runs: Sequence[Run], columns: Sequence[str]) -> Table:
    found = [{name: (value, unit) for name, value, unit in results(run)} for run in runs]
    names = list(dict.fromkeys(name for each in found for name in each))
    rows: list[list[Cell]] = [["ended", *(run.status.value for run in runs)]]
    rows += [[name, *(_written(each.get(name)) for each in found)] for name in names]
    titles = ["result", *columns]
    if len(runs) == LEAST_RUNS:
        titles.append("change")
        changes = [""] + [_change(found[0].get(name), found[1].get(name)) for name in names]
        rows = [[*row, change] for row, change in zip(rows, changes, strict=True)]
    return Table(title="Results", columns=titles, rows=rows)


def _written(amount: tuple[float, str] | None) -> str:
    if amount is None:
        return ""
    value, unit = amount
    return as_share(value) if unit == "%" else as_amount(value, unit=unit) if unit else as_number(value)


def _change(old: tuple[float, str] | None, new: tuple[float, str] | None) -> str:
    return "" if old is None or new is None or old[1] == "%" else as_change(old[0], new[0])


def _given(runs: Sequence[Run], columns: Sequence[str]) -> Iterator[Block]:
    """Tell what the runs were given; only what differs."""
    for kind, found in differences(runs).items():
        absent = "none" if kind == "layers" else "not recorded"  # all layers are recorded, or none is compared
        rows = [[name, *(_fact(value, absent) for value in values)] for name, values in found.items()]
        if rows:
            yield Table(title=f"{kind.capitalize()}: what differs", columns=["setting", *columns], rows=rows)


def _fact(value: Value | None, absent: str) -> str:
    if value is None:
        return absent
    if isinstance(value, bool):
        return "yes" if value else "no"
    return as_number(value) if isinstance(value, int | float) else value


def _findings(runs: Sequence[Run], names: Sequence[str]) -> Iterator[Block]:
    """Tell which findings each run has beside the first one's, and which it lacks."""
    rows = []
    for run, name in zip(runs[1:], names[1:], strict=True):
        for word, one, other in (("new", run, runs[0]), ("gone", runs[0], run)):
            rows += [
                (f"{word} in {name}", f"{finding.severity.value.upper()}  {finding.title} (rule {finding.rule})")
                for finding in without_match(one.findings, other.findings)
            ]
    if rows:
        yield Text(text="Findings gained and lost", strong=True)
        yield Facts(rows=rows)


def _sources(runs: Sequence[Run], names: Sequence[str]) -> Iterator[Block]:
    """Tell how the source of each run differs from the first one's."""
    unknown = [name for run, name in zip(runs, names, strict=True) if not has_source(run)]
    if unknown:
        yield Text(text=f"The source of {', '.join(unknown)} was not kept, so it cannot be compared.")
    old = runs[0]
    for new, name in zip(runs[1:], names[1:], strict=True):
        own = [("Source", old.source, new.source)] if has_source(old) and has_source(new) else []
        beside = [(f"Source of {each.name}", each.old, each.new) for each in other_texts(old, new)]
        for title, before, after in own + beside:
            lines = source_difference(before, after)
            if lines:
                more = [("@", f"{len(lines) - MOST_LINES} more lines")] if len(lines) > MOST_LINES else []
                yield Diff(title=title, old=names[0], new=name, lines=[*lines[:MOST_LINES], *more])
