"""This file is lines of source with their costs as rows of characters, and which of many lines are kept."""

from collections.abc import Iterator, Sequence

from torchmagic.views.page import Source, SourceLine
from torchmagic.views.skins.text_table import printable, shortened

_BAR = 8
_EIGHTHS = " ▏▎▍▌▋▊▉"
_GAP = "  "
# So much room is kept for the source itself before columns are left out.
_LEAST_CODE = 32
_TAB = "    "
# So few lines more than wanted are no longer than the rows that say what is left out.
_SLACK = 4


def source_rows(source: Source, *, width: int, num_lines: int) -> list[str]:
    """Return a head and the lines as rows: number, bar, columns, source.

    Args:
        source: The lines.
        width: Most characters of a row: columns at the right are left out first, then the source is cut.
        num_lines: Most lines; the hottest are kept, each with the lines beside it.
    """
    if not source.lines:
        return ["no lines"]
    lines = kept_lines(source.lines, num_lines)
    numbers = ["" if line.number is None else str(line.number) for line in lines]
    digits = max([len("line"), *map(len, numbers)])
    count = _num_columns(source, lines, width - digits - _BAR - 2 * len(_GAP))
    widths = [_column(source, lines, j) for j in range(count)]
    head = [f"{'line':>{digits}}", " " * _BAR]
    head += [f"{printable(source.columns[j]):>{widths[j]}}" for j in range(count)]
    rows = [_GAP.join([*head, "source"])]
    for number, line in zip(numbers, lines, strict=True):
        cells = [f"{printable(_cell(line, j)):>{widths[j]}}" for j in range(count)]
        start = _GAP.join([f"{number:>{digits}}", bar(line.heat), *cells, ""])
        rows.append((start + shortened_code(line, max(1, width - len(start)))).rstrip())
    left_out = ", ".join(map(printable, source.columns[count:]))
    return [*rows, shortened(f"… not shown: {left_out}", width)] if left_out else rows


def kept_lines(lines: Sequence[SourceLine], most: int) -> list[SourceLine]:
    """Return at most about so many lines in their order: the hottest, those beside them, and gaps between."""
    if len(lines) <= most + _SLACK:
        return list(lines)
    hot = sorted((i for i, line in enumerate(lines) if line.cells), key=lambda i: (-lines[i].heat, i))
    kept: set[int] = set()
    for i in hot:
        beside = {j for j in (i - 1, i, i + 1) if 0 <= j < len(lines) and lines[j].number is not None}
        if len(kept | beside) > most:
            break
        kept |= beside
    return list(_with_gaps(lines, sorted(kept)))


def bar(heat: float, *, size: int = _BAR) -> str:
    """Draw a bar in eighths of characters; what is warm at all shows at least one of them."""
    heat = min(1.0, heat) if heat > 0 else 0.0  # false for NaN
    eighths = max(1, round(heat * size * 8)) if heat else 0
    drawn = "█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")
    return f"{drawn:<{size}}"


def shortened_code(line: SourceLine, width: int) -> str:
    """Return a line's text on one row, cut at its right end; a gap is led by three points."""
    text = printable(line.text.replace("\t", _TAB)).rstrip()
    if line.number is None:
        text = f"… {text}".rstrip()
    return text if len(text) <= width else f"{text[: width - 1].rstrip()}…"


def _with_gaps(lines: Sequence[SourceLine], kept: Sequence[int]) -> Iterator[SourceLine]:
    before = -1
    for i in kept:
        if i > before + 1:
            yield SourceLine(number=None, text="")
        yield lines[i]
        before = i
    if before < len(lines) - 1:
        yield SourceLine(number=None, text="")


def _num_columns(source: Source, lines: Sequence[SourceLine], room: int) -> int:
    wanted = min(_LEAST_CODE, max([len(shortened_code(line, _LEAST_CODE)) for line in lines], default=0))
    count = len(source.columns)
    while count and sum(_column(source, lines, j) + len(_GAP) for j in range(count)) + wanted > room:
        count -= 1
    return count


def _column(source: Source, lines: Sequence[SourceLine], j: int) -> int:
    return max([len(printable(source.columns[j])), *(len(printable(_cell(line, j))) for line in lines)])


def _cell(line: SourceLine, j: int) -> str:
    return line.cells[j] if j < len(line.cells) else ""
