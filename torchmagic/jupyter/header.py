"""This file is the header line: it becomes a call that opens a run, and every other line stays as it was typed."""

import linecache
import re
import sys

from IPython.core.inputtransformer2 import cell_magic, leading_indent

from torchmagic.jupyter.cell_magics import CELL_MAGICS, TORCHBENCH, CellMagic, asks

_BY_NAME = {magic.name: magic for magic in CELL_MAGICS}
# A trial runs its cell itself; but of a cell that only asks there is nothing else, which IPython would not take.
_QUESTION = re.compile(rf"%%{TORCHBENCH.name}\s+(?P<options>.*?)\s*$")
_HEADER = re.compile(rf"%%(?P<name>{'|'.join(_BY_NAME)})(?:\s+(?P<options>.*?))?\s*$")


def rewrite(lines: list[str]) -> list[str]:
    """Turn a header on the first line into a begin call on the same line; IPython runs it twice a cell.

    A run opens only if Python could read the cell and got as far as its first line. Line numbers, ``await``, the
    displayed value, breakpoints and the history are therefore those of a plain cell.
    """
    question = _QUESTION.match(lines[0]) if lines else None
    if question is not None and asks(question["options"]):
        return [f"get_ipython().run_line_magic({TORCHBENCH.name!r}, {question['options']!r})\n"]
    header = _HEADER.match(lines[0]) if lines else None
    if header is None or lines[0].rstrip().endswith("?"):
        return lines
    magic, options, body = _BY_NAME[header["name"]], header["options"] or "", lines[1:]
    if asks(options):
        return [f"get_ipython().run_line_magic({magic.name!r}, {options!r})\n"]
    if not "".join(body).strip():
        return lines  # IPython says best that a cell magic wants a cell
    below = _stacked(body)
    more = ", more=True" if has_begin_call(next(line for line in below if line.strip())) else ""
    # Not run_line_magic: IPython leaves cells with that call and the word "paste" out of the history.
    return [f"get_ipython().find_line_magic({magic.begin!r})({options!r}{more})\n", *below]


# Hidden from the question whether a cell is complete: a terminal then waits for the rest of the cell.
rewrite.has_side_effects = True  # type: ignore[attr-defined] # IPython reads it from the function


def is_headed(source: str) -> bool:
    """Whether a cell begins with a header of ours."""
    return _HEADER.match(source.lstrip().partition("\n")[0]) is not None


def has_begin_call(line: str) -> bool:
    """Whether a line of rewritten source is a header."""
    return any(line.startswith(f"get_ipython().find_line_magic({magic.begin!r})") for magic in CELL_MAGICS)


def quote_as_typed(magic: CellMagic, options: str) -> None:
    """Let tracebacks quote the header, as a comment, in place of the begin call of the calling cell."""
    frame = sys._getframe(1)  # noqa: SLF001 - the way to the cell that is running
    while frame is not None and frame.f_back is not None:
        entry, index = linecache.cache.get(frame.f_code.co_filename), frame.f_lineno - 1
        if entry is not None and len(entry) > 1:
            lines = entry[2]
            if index < len(lines) and has_begin_call(lines[index]):
                lines[index] = f"# %%{magic.name} {options}".rstrip() + "\n"
                return
        frame = frame.f_back


def _stacked(body: list[str]) -> list[str]:
    """Take away the indent of a whole cell, as IPython does without a header; expand a cell magic right below it."""
    first = next(index for index, line in enumerate(body) if line.strip())
    above, cell = body[:first], list(leading_indent(body[first:]))  # type: ignore[no-untyped-call] # IPython's
    if not cell[0].startswith("%%"):
        return above + cell
    below = rewrite(cell)
    return above + (below if below != cell else list(cell_magic(cell)))  # type: ignore[no-untyped-call] # likewise
