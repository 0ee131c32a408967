"""This file is a table in plain text: aligned, cut to a width, with the rows that matter kept."""

import unicodedata
from textwrap import wrap

from torchmagic.views.numbers import as_number
from torchmagic.views.page import Cell, Table, Trend
from torchmagic.views.skins.line_summary import trend_drawing

_GAP = "  "
_LEAST = 12  # narrower than this a name says nothing any more
_MARK = "!"


def text_table(table: Table, *, width: int, num_rows: int) -> str:
    """Return a table as text; numbers stand right, marked rows have ``!`` in front.

    Args:
        table: The table.
        width: Most characters a line takes: long names are cut in the middle, then columns at the right are left out.
        num_rows: Most rows to show; marked rows are kept first.
    """
    if not table.rows:
        return f"no rows ({', '.join(map(printable, table.columns))})"
    shown = kept_rows(table, num_rows)
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
    return "\n".join([*lines, *_left_out(table, len(shown), len(widths), lead=lead, width=width)])


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
    return "".join(char if char in keep or not unicodedata.category(char).startswith("C") else " " for char in text)


def shortened(text: str, width: int) -> str:
    """Cut text in its middle, since both ends of a module path tell more than what is between."""
    if len(text) <= width:
        return text
    front = (width - 1) // 2
    return f"{text[:front]}…{text[len(text) - (width - 1 - front) :]}"


def _cell(value: Cell) -> str:
    if isinstance(value, Trend):
        return trend_drawing(value)
    return as_number(value) if isinstance(value, int | float) else printable(value or "")


def _fitted(widths: list[int], right: list[bool], room: int) -> list[int]:
    """Narrow the widest text columns, then drop columns at the right, until the line fits."""
    fitted = list(widths)
    while sum(fitted) + len(_GAP) * (len(fitted) - 1) > room:
        wide = [j for j, size in enumerate(fitted) if not right[j] and size > _LEAST]
        if wide:
            fitted[max(wide, key=fitted.__getitem__)] -= 1
        elif len(fitted) > 1:
            fitted.pop()
        else:
            break
    return fitted


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
        told.append(f"{len(left)} more column{'' if len(left) == 1 else 's'} ({', '.join(left)})")
    indent = " " * lead
    return (
        wrap(f"… {' and '.join(told)}", width, initial_indent=indent, subsequent_indent=f"{indent}  ") if told else []
    )
