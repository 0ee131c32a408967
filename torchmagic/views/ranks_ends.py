"""This file is the view of how ranks ended: what each did last where one is silent or gone, and what others found."""

from collections.abc import Iterator
from dataclasses import replace

from torchmagic.analyses.finding_difference import without_match
from torchmagic.analyses.ranks_ends import doing, silence
from torchmagic.analyses.ranks_words import ranks_said
from torchmagic.records.finding import Finding
from torchmagic.records.rank_beats import BeatRecord
from torchmagic.session.ranked import Ranks
from torchmagic.session.run import Run, Status
from torchmagic.views.numbers import as_seconds
from torchmagic.views.page import Block, Cell, Findings, Fold, Table

# A pause of so many seconds is worth a look at what all ranks do.
MIN_SECONDS = 5.0
MOST_ROWS, MOST_FINDINGS = 16, 8


def end_blocks(ranks: Ranks) -> list[Block]:
    """Return what every rank did last, where one of them is silent or did not end well; else nothing."""
    found = silence(ranks, min_seconds=MIN_SECONDS)
    beats = found.beats if found is not None else ranks.beats
    ill = found is not None or any(status not in (Status.OK, Status.RUNNING) for status in ranks.statuses.values())
    if not beats or not ill:
        return []
    silent = frozenset(found.silent if found is not None else ranks.lost)
    same: dict[tuple[str, bool], list[BeatRecord]] = {}
    for rank, beat in sorted(beats.items()):
        key = doing(beat) if len(beats) > MOST_ROWS else str(rank)
        same.setdefault((key, rank in silent), []).append(beat)
    together = sorted(same.items(), key=lambda pair: not pair[0][1])[:MOST_ROWS]
    rows: list[list[Cell]] = [_row([beat.rank for beat in group], group) for _, group in together]
    marked = frozenset(i for i, ((_, is_silent), _) in enumerate(together) if is_silent)
    return [Table(title="What the ranks did last", columns=("who", "did last", "since"), rows=rows, marked=marked)]


def finding_blocks(run: Run, ranks: Ranks) -> Iterator[Block]:
    """Yield, folded, the findings of other ranks that this run does not have."""
    said = found_elsewhere(run, ranks)
    if said:
        title = f"Findings of other ranks ({len(said):,})"
        yield Fold(title=title, blocks=[Findings(findings=said[:MOST_FINDINGS])])


def found_elsewhere(run: Run, ranks: Ranks) -> list[Finding]:
    """Return the findings of other ranks that this run does not have, each once, with the ranks in its title."""
    found: dict[tuple[str, str | None], tuple[Finding, list[int]]] = {}
    for rank, other in ranks.runs.items():
        if other is not run:
            for finding in without_match(other.findings, run.findings):
                key = finding.rule, finding.parameter or finding.module
                found.setdefault(key, (finding, []))[1].append(rank)
    return [replace(finding, title=f"{ranks_said(who)}: {finding.title}") for finding, who in found.values()]


def _row(who: list[int], beats: list[BeatRecord]) -> list[Cell]:
    longest = max(beat.seconds + beat.age for beat in beats)
    return [ranks_said(who), doing(beats[0]), as_seconds(longest)]
