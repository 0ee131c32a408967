"""This file is the view of the history: one row a run, the newest first."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from torchmagic.analyses.columns import is_wide
from torchmagic.analyses.counting import counted
from torchmagic.session.history import Entry
from torchmagic.session.run import Status
from torchmagic.views.numbers import as_seconds, as_share
from torchmagic.views.page import Block, Cell, Page, Table, Text, Trend

# Days that are told by their weekday.
WEEK = 6
MOST_LETTERS, MOST_OF_NOTE = 60, 160
NOTHING = (
    "No run yet. Put %%torchdebug at the top of a cell that trains and run it, or use `with torchmagic.watch():` in a "
    "script; each run then has its row here."
)
ENDED = {Status.INTERRUPTED: "stopped"}


def history_page(entries: Sequence[Entry], *, now: float | None = None, num_earlier: int = 0) -> Page:
    """Return the table of runs, the newest first: it stands where a long table is seen without scrolling.

    Args:
        entries: Runs, oldest first.
        now: Seconds since the epoch, by which recent days are told as ``today`` or by their weekday; None writes dates.
        num_earlier: How many runs before these are left out; it is said how to see them.
    """
    if not entries:
        return Page(title="History", blocks=[Text(text=NOTHING)])
    rows = list(reversed(entries))
    blocks: list[Block] = [Text(text=_lead(rows)), _table(rows, now)]
    lost = [entry for entry in rows if entry.status is Status.LOST]
    if lost:
        blocks.append(Text(text=_lost(lost)))
    if num_earlier:
        runs = counted(num_earlier, "earlier run")
        blocks.append(Text(text=f"{runs} not shown: %torchsession history --all, or history(everything=True)."))
    return Page(title="History", blocks=blocks)


def when(started: float, *, now: float | None) -> str:
    """Write when something began in the clock of this place: ``today 14:03``, ``Fri 14:03``, else its date.

    Args:
        started: Seconds since the epoch.
        now: The same for the present; None always writes the date.
    """
    moment = datetime.fromtimestamp(started).astimezone()
    if now is not None:
        present = datetime.fromtimestamp(now).astimezone()
        days = (present.date() - moment.date()) / timedelta(days=1)
        if days == 0:
            return f"today {moment:%H:%M}"
        if 0 < days <= WEEK:
            return f"{moment:%a %H:%M}"
    return f"{moment:%Y-%m-%d}"


def _lead(rows: Sequence[Entry]) -> str:
    here = sum(entry.here for entry in rows)
    if len(rows) == 1:
        return f"1 run, of {'this' if here else 'an earlier'} kernel."
    whose = "all of this kernel" if here == len(rows) else f"{here} of this kernel" if here else "of earlier kernels"
    return f"{len(rows)} runs, {whose}, the newest first."


def _lost(lost: Sequence[Entry]) -> str:
    numbers = ", ".join(str(entry.number) for entry in lost)
    one = len(lost) == 1
    return (
        f"Lost: the kernel of {'run' if one else 'runs'} {numbers} died while {'it' if one else 'they'} went on; "
        f"%torchsession show {lost[0].number} shows what was seen up to then."
    )


def _table(rows: Sequence[Entry], now: float | None) -> Table:
    # what is wanted least stands at the right: a narrow text leaves it out
    columns: list[tuple[str, list[Cell]]] = [
        ("run", [entry.number for entry in rows]),
        ("name", [_short(entry.heading or entry.name) for entry in rows]),
        ("when", [when(entry.started, now=now) for entry in rows]),
        ("ended", [ENDED.get(entry.status, entry.status.value) for entry in rows]),
        ("loss", [_trend(entry) for entry in rows]),
        ("last loss", [entry.loss[-1] if entry.loss else None for entry in rows]),
        ("findings", [", ".join(_findings(entry)) for entry in rows]),
        ("note", [_note(entry) for entry in rows]),
        ("steps", [entry.steps for entry in rows]),
        ("time", [as_seconds(entry.seconds) for entry in rows]),
        ("cost", [_cost(entry) for entry in rows]),
    ]
    kept = [(title, cells) for title, cells in columns if any(cell not in (None, "") for cell in cells)]
    marked = frozenset(i for i, entry in enumerate(rows) if entry.status is Status.LOST)
    lines = [list(cells) for cells in zip(*(cells for _, cells in kept), strict=True)]
    return Table(columns=[title for title, _ in kept], rows=lines, marked=marked)


def _trend(entry: Entry) -> Trend | None:
    values = list(entry.loss)
    return Trend(values=values, log=is_wide(values)) if len(values) > 1 else None


def _findings(entry: Entry) -> Iterator[str]:
    for number, word in ((entry.errors, "error"), (entry.warnings, "warning")):
        if number:
            yield counted(number, word)
    if entry.infos and not entry.errors and not entry.warnings:
        yield f"{entry.infos} info"


def _note(entry: Entry) -> str:
    return _short(" ".join([*(f"#{tag}" for tag in entry.tags), entry.note]), most=MOST_OF_NOTE)


def _cost(entry: Entry) -> str:
    return as_share(min(1.0, entry.cost / entry.seconds)) if entry.seconds else ""


def _short(text: str, *, most: int = MOST_LETTERS) -> str:
    words = " ".join(text.split())
    return words if len(words) <= most else f"{words[: most - 1]}…"
