"""This file is the view of a run's ranks: their pace side by side, who waits for whom, and what became of them."""

import math
from collections.abc import Collection, Sequence

from torchmagic.analyses.counting import counted
from torchmagic.analyses.ranks_table import RankRow, outliers, rank_rows, spread
from torchmagic.analyses.ranks_waits import Waits, exchanging, slowest, waits
from torchmagic.analyses.ranks_words import ranks_said
from torchmagic.records.ranks import RankRecord
from torchmagic.session.ranked import Ranks
from torchmagic.session.run import Run, Status
from torchmagic.views.numbers import as_number, as_seconds, as_share
from torchmagic.views.page import Block, Cell, Fold, Page, Table, Text
from torchmagic.views.ranks_curves import rank_plots
from torchmagic.views.ranks_ends import end_blocks, finding_blocks

# So many ranks stand in one table; of more, their spread and those that stand out.
MOST_ROWS, MOST_OUTLIERS = 16, 8
MILLISECONDS = 1e3
# Of a step, what one rank waits less than the others before it is named.
LEAST_SHARE = 0.05
# And before its row is marked, be it one of two, of which none can stand out.
MARKED_SHARE = 0.1
# Column, name of the number, and what it is multiplied by.
COLUMNS = (
    ("step, ms", "step_seconds", MILLISECONDS),
    ("waits: ranks, ms", "wait_seconds", MILLISECONDS),
    ("waits: data, ms", "data_seconds", MILLISECONDS),
    ("works, ms", "own_seconds", MILLISECONDS),
    ("loss", "loss", 1.0),
    ("grad norm", "grad_norm", 1.0),
    ("steps", "steps", 1.0),
)
# What the record calls a launcher, where one would say it otherwise.
STARTED = {"processes": "the run itself"}
WORDS = {name: column.partition(",")[0] for column, name, _ in COLUMNS} | {"status": "how it ended"}


def ranks_page(run: Run) -> Page:
    """Return the ranks of a run that were merged; empty for any other run."""
    ranks = run.ranks
    if ranks is None or not ranks.runs:
        return Page(title="Ranks", blocks=[])
    found = waits(ranks)
    rows = rank_rows(ranks, found)
    far = outliers(rows)
    late = slowest(found) if found is not None else None
    marked = {*far, *([late.rank] if late is not None and late.share >= MARKED_SHARE else [])}
    blocks: list[Block] = [Text(text=_lead(ranks, rows, found)), *end_blocks(ranks)]
    if len(rows) <= MOST_ROWS:
        blocks.append(_table(rows, marked))
    else:
        blocks.append(_spread(rows))
        if far:
            blocks.append(_standing_out(rows, far))
    blocks += [*rank_plots(ranks, found, list(far)), *finding_blocks(run, ranks)]
    if len(rows) > MOST_ROWS:
        blocks.append(Fold(title=f"All {len(rows):,} ranks", blocks=[_table(rows, marked)]))
    return Page(title="Ranks", blocks=blocks)


def _lead(ranks: Ranks, rows: Sequence[RankRow], found: Waits | None) -> str:
    """Say in two or three sentences who took part, how it ended, and what waiting cost."""
    who = next((record for found in ranks.of(RankRecord).values() for record in found), None)
    hosts = {row.host for row in rows if row.host}
    where = f" on {counted(len(hosts), 'host')}" if hosts else ""
    by = f" over {_backend(who.backend)}" if who is not None and who.backend else ""
    started = f", started by {STARTED.get(who.launcher, who.launcher)}" if who is not None and who.launcher else ""
    return " ".join(
        filter(
            None,
            (f"{ranks.world_size:,} ranks{where}{by}{started}: {_ends(ranks)}.", _pace(rows), _waiting(ranks, found)),
        )
    )


def _backend(said: str) -> str:
    """Return the name of a backend, each once where several devices have their own: ``cpu:gloo,cuda:nccl``."""
    return " and ".join(dict.fromkeys(part.rpartition(":")[2] for part in said.split(",")))


def _ends(ranks: Ranks) -> str:
    found: dict[Status, list[int]] = {}
    for rank, status in ranks.statuses.items():
        found.setdefault(status, []).append(rank)
    if set(found) == {Status.OK} and not ranks.missing:
        return "all ended well"
    said = [f"{ranks_said(which)} {status.value}" for status, which in found.items()]
    if ranks.missing:
        said.append(f"{ranks_said(ranks.missing)} left nothing to read")
    return ", ".join(said)


def _pace(rows: Sequence[RankRow]) -> str:
    steps = {row.steps for row in rows}
    told = f"{min(steps):,} to {max(steps):,} steps" if len(steps) > 1 else f"{steps.pop():,} steps each"
    found = spread(rows, "step_seconds")
    return f"{told}, {as_seconds(found['median'])} a step." if found else f"{told}."


def _waiting(ranks: Ranks, found: Waits | None) -> str:
    if found is None:
        return ""
    late = slowest(found)
    sampled = f", measured at {len(found.waited)} steps" if found.is_sampled else ""
    whole = exchanging(ranks, found)
    rest = f", the whole exchange {as_share(whole)}" if whole > found.share and not found.is_estimated else ""
    about = "about " if found.is_estimated else ""
    said = f"Waiting for other ranks takes {about}{as_share(found.share)} of the time{rest}{sampled}."
    if late.share < LEAST_SHARE:
        return said
    return f"{said} Rank {late.rank} waits least: the others wait {as_seconds(late.seconds)} a step longer."


def _table(rows: Sequence[RankRow], marked: Collection[int]) -> Table:
    known = [column for column in COLUMNS if any(_is_told(row, column[1], rows) for row in rows)]
    hosts, ends = len({row.host for row in rows}) > 1, any(row.status is not Status.OK for row in rows)
    columns = ["rank", *(["ended"] if ends else []), *(name for name, _, _ in known)]
    cells: list[list[Cell]] = [
        [
            str(row.rank),
            *([row.status.value] if ends else []),
            *(_cell(row, name, factor) for _, name, factor in known),
            *([row.host] if hosts else []),
        ]
        for row in rows
    ]
    return Table(
        columns=[*columns, *(["host"] if hosts else [])],
        rows=cells,
        marked=frozenset(i for i, row in enumerate(rows) if row.rank in marked),
    )


def _is_told(row: RankRow, name: str, rows: Sequence[RankRow]) -> bool:
    """Whether a number says anything: steps only where they are not the same on all ranks."""
    return not math.isnan(getattr(row, name)) and (name != "steps" or len({each.steps for each in rows}) > 1)


def _cell(row: RankRow, name: str, factor: float) -> Cell:
    value = float(getattr(row, name)) * factor
    return None if math.isnan(value) and name not in ("loss", "grad_norm") else value


def _spread(rows: Sequence[RankRow]) -> Table:
    cells: list[list[Cell]] = []
    for column, name, factor in COLUMNS:
        found = spread(rows, name)
        if found and not (name == "steps" and found["least"] == found["most"]):
            ends = (found[key] * factor for key in ("least", "quarter", "median", "three quarters", "most"))
            cells.append([column, *ends, str(int(found["least of rank"])), str(int(found["most of rank"]))])
    columns = ("over all ranks", "least", "25%", "median", "75%", "most", "least: rank", "most: rank")
    return Table(columns=columns, rows=cells)


def _standing_out(rows: Sequence[RankRow], far: dict[int, tuple[str, ...]]) -> Table:
    by_rank = {row.rank: row for row in rows}
    shown = [by_rank[rank] for rank in list(far)[:MOST_OUTLIERS]]
    known = [column for column in COLUMNS if any(_is_told(row, column[1], rows) for row in rows)]
    columns = ("rank", "in", *(name for name, _, _ in known))
    cells: list[list[Cell]] = [
        [
            str(row.rank),
            ", ".join(WORDS[name] for name in far[row.rank]),
            *(_cell(row, name, factor) for _, name, factor in known),
        ]
        for row in shown
    ]
    more = f", {as_number(len(shown))} of {len(far):,}" if len(far) > len(shown) else ""
    return Table(columns=columns, rows=cells, title=f"Ranks that stand out{more}")
