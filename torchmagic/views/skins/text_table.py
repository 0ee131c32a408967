"""This file is a table in plain text: aligned, cut to a width, with the rows that matter kept."""

import unicodedata
from textwrap import wrap

from torchmagic.analyses.counting import counted
from torchmagic.views.numbers import as_number
from torchmagic.views.page import Cell, Table, Trend
from torchmagic.views.skins.line_summary import trend_drawing

_GAP = "  "
_LEAST = 12  # narrower than this a name says nothing any more
_LEAST_FIRST = 24  # what a row is about is cut no further, in a text that is wide enough, while a column can go instead
_MARK = "!"
# Control, format and unassigned characters, surrogates, and what else breaks a line.
_UNSEEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
_SLACK = 4  # so few rows more are no longer than the line that says that they were left out


def text_table(table: Table, *, width: int, num_rows: int) -> str:
    """Return a table as text; numbers stand right, marked rows have ``!`` in front.

    Args:
        table: The table.
        width: Most characters a line takes: long names are cut in the middle, then columns at the right are left out.
        num_rows: Most rows to show, and a few more where that leaves none out; marked rows are kept first.
    """
    if not table.rows:
        return f"{_headed(table, width)}no rows ({', '.join(map(printable, table.columns))})"
    shown = kept_rows(table, num_rows if len(table.rows) > num_rows + _SLACK else len(table.rows))
    columns = [printable(column) for column in table.columns]
    cells = [[_cell(value) for value in table.rows[index]] for index in shown]
    numbers = number_columns(table)
    right = [j in numbers for j in range(len(columns))]
    lead = len(_MARK) + 1 if table.marked else 0
    widths = _fitted([max(map(len, column)) for column in zip(columns, *cells, strict=True)], right, width - lead)
    lines = [_line(columns, widths, right), _GAP.join("─" * size for size in widths)]
    lines += [_line(row, widths, right) for row in cells]
    if table.marked:
        marks = ["", "", *(_MARK if index in table.marked else "" for index in shown)]
        lines = [f"{mark:<{lead}}{line}" for mark, line in zip(marks, lines, strict=True)]
    lines += _left_out(table, len(shown), len(widths), lead=lead, width=width)
    return _headed(table, width) + "\n".join(lines)


def kept_rows(table: Table, most: int) -> list[int]:
    """Return the indices of at most so many rows in their own order; marked rows are kept first."""
    order = sorted(range(len(table.rows)), key=lambda index: (index not in table.marked, index))
    return sorted(order[:most])


def number_columns(table: Table) -> set[int]:
    """Return the indices of the columns that hold numbers and nothing else."""
    columns: set[int] = set()
    for j in range(len(table.columns)):
        values = [row[j] for row in table.rows if row[j] is not None]
        if values and not any(isinstance(value, str | Trend) for value in values):
            columns.add(j)
    return columns


def printable(text: str, *, keep: str = "") -> str:
    """Return text without control characters, which could move a terminal's cursor or break a row.

    Args:
        text: Any text, such as a module's name or a tensor's repr.
        keep: Control characters to leave alone.
    """
    return "".join(char if char in keep or unicodedata.category(char) not in _UNSEEN else " " for char in text)


def shortened(text: str, width: int) -> str:
    """Cut words at their end, and a name in its middle: both ends of a module path tell more than what is between."""
    if len(text) <= width:
        return text
    if " " in text:
        return f"{text[: width - 1].rstrip()}…"
    front = (width - 1) // 2
    return f"{text[:front]}…{text[len(text) - (width - 1 - front) :]}"


def _headed(table: Table, width: int) -> str:
    return f"{shortened(printable(table.title), width)}\n" if table.title else ""


def _cell(value: Cell) -> str:
    if isinstance(value, Trend):
        return trend_drawing(value)
    return as_number(value) if isinstance(value, int | float) else printable(value or "")


def _fitted(widths: list[int], right: list[bool], room: int) -> list[int]:
    """Drop columns at the right until the others can be narrowed to fit, then narrow the widest text columns."""
    least = [size if to_right else min(size, _LEAST) for size, to_right in zip(widths, right, strict=True)]
    least[0] = max(least[0], min(widths[0], _LEAST_FIRST, room // 3))
    count = len(widths)
    while count > 1 and _length(least[:count]) > room:
        count -= 1
    fitted = widths[:count]
    while _length(fitted) > room:
        wide = [j for j, size in enumerate(fitted) if size > least[j]]
        if not wide:
            break
        fitted[max(reversed(wide), key=fitted.__getitem__)] -= 1
    return fitted


def _length(widths: list[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _line(cells: list[str], widths: list[int], right: list[bool]) -> str:
    placed = [
        shortened(cell, size).rjust(size) if to_right else shortened(cell, size).ljust(size)
        for cell, size, to_right in zip(cells, widths, right, strict=False)
    ]
    return _GAP.join(placed)


def _left_out(table: Table, num_shown: int, num_columns: int, *, lead: int, width: int) -> list[str]:
    told = []
    if num_shown < len(table.rows):
        told.append(f"{len(table.rows) - num_shown} more rows")
    if num_columns < len(table.columns):
        left = table.columns[num_columns:]
        told.append(f"{counted(len(left), 'more column')} ({', '.join(map(printable, left))})")
    indent = " " * lead
    return (
        wrap(f"… {' and '.join(told)}", width, initial_indent=indent, subsequent_indent=f"{indent}  ") if told else []
    )
