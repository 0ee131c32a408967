"""This file is the source difference: what was changed in a cell from one run to another."""

from collections.abc import Sequence
from difflib import SequenceMatcher

# Lines of the cell shown around a change.
AROUND = 2

Signed = tuple[str, str]


def source_difference(old: str, new: str, *, around: int = AROUND) -> list[Signed]:
    """Return the lines that differ, each with its sign, and some lines around them.

    Args:
        old: Source of the one run.
        new: Source of the other.
        around: Equal lines to keep before and after each change.

    Returns:
        Pairs of ``-`` (only in the old), ``+`` (only in the new), a space (in both) or ``@`` (a place where equal lines
        are left out) and the line; empty where no line differs.
    """
    before, after = _lines(old), _lines(new)
    found: list[Signed] = []
    for group in SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(around):
        first = group[0][3]
        if found or first:
            found.append(("@", f"line {first + 1}"))
        for kind, start, end, new_start, new_end in group:
            if kind == "equal":
                found += [(" ", line) for line in before[start:end]]
            else:
                found += [("-", line) for line in before[start:end]]
                found += [("+", line) for line in after[new_start:new_end]]
    return found


def num_changed(old: str, new: str) -> int:
    """Return how many lines were changed, added or taken out; a line replaced by another counts once."""
    places = SequenceMatcher(None, _lines(old), _lines(new), autojunk=False).get_opcodes()
    return sum(max(end - start, last - first) for kind, start, end, first, last in places if kind != "equal")


def _lines(source: str) -> Sequence[str]:
    """Return lines without spaces at their ends; empty ones at the end of a cell are no change."""
    return [line.rstrip() for line in source.rstrip().split("\n")] if source.strip() else []
