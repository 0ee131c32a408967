"""This file is the parts of a source that cost something: which of its lines are worth showing."""

from collections.abc import Mapping, Sequence

# A text of no more lines is shown whole.
SHORT = 34
# Lines shown above and below one that costs.
AROUND = 2
# Of a long text, a line that takes a smaller share than this of what the dearest of all takes does not count ...
LEAST = 0.005
# ... and so many lines that do are shown.
MOST_COSTLY = 40


def shown_lines(num_lines: int, costs: Mapping[int, float], *, most: float) -> list[int]:
    """Return the numbers of the lines that are shown, rising.

    Args:
        num_lines: Lines of the text.
        costs: What each of some lines took, by its number from 1.
        most: What the dearest line of all texts took.
    """
    if num_lines <= SHORT:
        return list(range(1, num_lines + 1))
    return sorted({number for each in _costly(costs, most) for number in _around(each, num_lines)})


def gaps(numbers: Sequence[int], num_lines: int) -> dict[int, int]:
    """Return after which of the shown lines how many are left out; 0 stands for the beginning."""
    edges = zip([0, *numbers], [*numbers, num_lines + 1], strict=True)
    return {before: after - before - 1 for before, after in edges if after - before > 1}


def _costly(costs: Mapping[int, float], most: float) -> list[int]:
    kept = [number for number, cost in costs.items() if cost >= LEAST * most]
    return sorted(kept, key=lambda number: (-costs[number], number))[:MOST_COSTLY]


def _around(number: int, num_lines: int) -> range:
    return range(max(1, number - AROUND), min(num_lines, number + AROUND) + 1)
