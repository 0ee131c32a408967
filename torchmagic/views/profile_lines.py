"""This file is the page of a profile's lines: the user's source with what each line cost beside it."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from torchmagic.analyses.profile_regions import gaps, shown_lines
from torchmagic.analyses.profile_window import Window, profile_window
from torchmagic.records.costs import LineCost
from torchmagic.session.run import Run
from torchmagic.views.numbers import as_number, as_share, byte_unit
from torchmagic.views.page import Block, Page, Source, SourceLine, Text
from torchmagic.views.profile_words import as_time, file_name, in_unit, per_step, percent, three_digits, time_unit

# Files beyond that cost next to nothing.
MOST_FILES = 8
_PARTLY = "≥ "
_HEAT = (
    "Own: the line without the other lines that it calls. Bar and share: the same with the backward of what it "
    "computed, and without the backward of what other lines did."
)
_PYTHON = "Python: share of that in which no operator ran."
_BACKWARD = "Backward: what the backward pass took for what the line computed."
_READS = "Reads: times it waited for a tensor's value."
_TIMED_IN_PART = f"{_PARTLY.strip()}: the line ran so often that only its first runs were timed."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    name: str
    cell: Callable[[LineCost], str]
    told: str = ""


def profile_lines_page(run: Run) -> Page:
    """Return the source of each cell and file with the costs of its lines, the dearest file first.

    A page without blocks stands for a run without them.
    """
    window = profile_window(run)
    blocks = [] if window is None else list(_blocks(window))
    return Page(title="Lines", blocks=blocks)


def _blocks(window: Window) -> Iterator[Block]:
    if not window.costs.lines:
        return
    dearest = max(window.costs.lines, key=lambda line: line.caused)
    source = dearest.place.source or "a line that cannot be read"
    where = f"Line {dearest.place.line} of {file_name(window, dearest.place.file)}"
    whole = "a step" if window.has_steps else "the time"
    yield Text(text=f"{where} takes {as_share(window.share(dearest.caused))} of {whole}: {source}", strong=True)
    size, unit = time_unit(window.per_step(line.own) for line in window.costs.lines)
    columns = _columns(window, size)
    left_out = []
    for index, (file, costs) in enumerate(_by_file(window).items()):
        used = [each for each in columns if any(map(each.cell, costs))]
        lines = _source_lines(window, file, costs, used, most=dearest.caused) if index < MOST_FILES else []
        if any(line.cells for line in lines):
            title = f"{file_name(window, file)}, {unit} {per_step(window)}"
            yield Source(title=title, columns=[each.name for each in used], lines=lines)
        else:
            left_out.append(sum(line.caused for line in costs))
    if left_out:
        files = "1 more file" if len(left_out) == 1 else f"{len(left_out):,} more files"
        yield Text(text=f"{files}: {as_time(window.per_step(sum(left_out)))} {per_step(window)}.")
    yield Text(text=" ".join(_told(window, columns)))


def _by_file(window: Window) -> dict[str, list[LineCost]]:
    """Return the lines of each file, the dearest file first."""
    found: defaultdict[str, list[LineCost]] = defaultdict(list)
    for line in window.costs.lines:
        found[line.place.file].append(line)
    return dict(sorted(found.items(), key=lambda each: -sum(line.caused for line in each[1])))


def _told(window: Window, columns: Sequence[_Column]) -> Iterator[str]:
    yield _HEAT
    yield from (each.told for each in columns if each.told and any(each.cell(line) for line in window.costs.lines))
    if not all(line.complete for line in window.costs.lines):
        yield _TIMED_IN_PART


def _source_lines(
    window: Window, file: str, lines: list[LineCost], columns: Sequence[_Column], *, most: float
) -> list[SourceLine]:
    costs = _by_number(lines)
    text = window.sources.texts.get(file)
    texts = _known(costs) if text is None else dict(enumerate(_split(text), start=1))
    last = max([*texts, *costs], default=0)
    caused = {number: line.caused for number, line in costs.items()}
    numbers = sorted(costs) if text is None else shown_lines(last, caused, most=most)
    left_out = gaps(numbers, last) if text is not None else {}
    shown: list[SourceLine] = [_gap(left_out[0])] if 0 in left_out else []
    for number in numbers:
        cost = costs.get(number)
        heat = cost.caused / most if cost is not None and most > 0 else 0.0
        cells = [each.cell(cost) for each in columns] if cost is not None else []
        shown.append(SourceLine(number=number, text=texts.get(number, ""), heat=heat, cells=cells))
        shown += [_gap(left_out[number])] if number in left_out else []
    return shown


def _by_number(lines: Sequence[LineCost]) -> dict[int, LineCost]:
    """Return lines by number; of several functions on one line, the one that took most."""
    return {line.place.line: line for line in sorted(lines, key=lambda line: line.caused)}


def _split(text: str) -> list[str]:
    """Return a text's lines as Python counts them: a form feed ends none."""
    return text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")


def _known(costs: Mapping[int, LineCost]) -> dict[int, str]:
    return {number: cost.place.source for number, cost in costs.items()}


def _percent(share: float) -> str:
    return "" if share <= 0 else as_number(percent(share)) if percent(share) else "<0.1"


def _gap(count: int) -> SourceLine:
    return SourceLine(number=None, text=f"{count:,} {'line' if count == 1 else 'lines'}")


def _columns(window: Window, size: float) -> list[_Column]:
    most = max((window.per_step(line.allocated or 0) for line in window.costs.lines), default=0.0)
    held, held_unit = byte_unit(most)

    def time(seconds: float) -> str:
        return as_number(in_unit(window.per_step(seconds), size)) if seconds > 0 else ""

    def own(line: LineCost) -> str:
        return time(line.own) if line.complete else f"{_PARTLY}{time(line.own) or '0'}"

    def total(line: LineCost) -> str:
        return time(line.total) if line.total > line.own else ""

    def python(line: LineCost) -> str:
        return as_number(percent(max(0.0, line.own - line.operators) / line.own)) if line.own > 0 else ""

    def memory(line: LineCost) -> str:
        return as_number(in_unit(window.per_step(line.allocated), held)) if line.allocated else ""

    def count(number: int) -> str:
        return as_number(three_digits(window.per_step(number))) if number else ""

    return [
        _Column(name="own", cell=own),
        _Column(name="share %", cell=lambda line: _percent(window.share(line.caused))),
        _Column(name="calls", cell=lambda line: count(line.calls)),
        _Column(name="backward", cell=lambda line: time(line.backward), told=_BACKWARD),
        _Column(name="Python %", cell=python, told=_PYTHON),
        _Column(name="with calls", cell=total),
        _Column(name="reads", cell=lambda line: count(line.reads), told=_READS),
        _Column(name=held_unit, cell=memory),
    ]
