"""This file is the source difference: what was changed in a cell from one run to another."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

# Lines of the cell shown around a change.
AROUND = 2

Signed = tuple[str, str]
# A header says how a cell is watched, and nothing of what it does.
_HEADER = re.compile(r"%%(torchdebug|torchprofile|torchbench)(\s|$)")


def source_difference(old: str, new: str, *, around: int = AROUND) -> list[Signed]:
    """Return the lines that differ, each with its sign, and some lines around them.

    Args:
        old: Source of the one run.
        new: Source of the other.
        around: Equal lines to keep before and after each change.

    Returns:
        Pairs of ``-`` (only in the old), ``+`` (only in the new), a space (in both) or ``@`` (a place where equal lines
        are left out) and the line; empty where no line differs. Headers such as ``%%torchdebug`` are no part of it.
    """
    (_, before), (above, after) = _parts(old), _parts(new)
    found: list[Signed] = []
    for group in SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(around):
        first = group[0][3]
        if found or first:
            found.append(("@", f"line {above + first + 1}"))
        for kind, start, end, new_start, new_end in group:
            if kind == "equal":
                found += [(" ", line) for line in before[start:end]]
            else:
                found += [("-", line) for line in before[start:end]]
                found += [("+", line) for line in after[new_start:new_end]]
    return found


def num_changed(old: str, new: str) -> int:
    """Return how many lines were changed, added or taken out; a line replaced by another counts once."""
    places = SequenceMatcher(None, body(old), body(new), autojunk=False).get_opcodes()
    return sum(max(end - start, last - first) for kind, start, end, first, last in places if kind != "equal")


def body(source: str) -> Sequence[str]:
    """Return the lines of a cell below its headers, without spaces at their ends, and no empty ones at the last."""
    return _parts(source)[1]


def _parts(source: str) -> tuple[int, Sequence[str]]:
    """Return how many lines the headers take, with empty ones between them, and the lines below."""
    lines = [line.rstrip() for line in source.rstrip().split("\n")] if source.strip() else []
    above = 0
    for number, line in enumerate(lines, 1):
        if line and not _HEADER.match(line):
            break
        above = number if line else above
    return above, lines[above:]
