"""This file is ranks in words: many numbers in few, and who agrees with whom."""

from collections.abc import Hashable, Iterable, Mapping

# Of more stretches of numbers than this the rest is counted.
MOST_SPANS = 5
# Two neighbours are told one by one.
LEAST_SPAN = 2


def ranks_said(ranks: Iterable[int]) -> str:
    """Return ranks as one writes them.

    Examples:
        >>> ranks_said([2]), ranks_said([1, 0, 2, 3, 7]), ranks_said([])
        ('rank 2', 'ranks 0 to 3 and 7', 'no rank')
        >>> ranks_said(range(0, 100, 2))
        'ranks 0, 2, 4, 6, 8 and 45 more'
    """
    numbers = sorted(set(ranks))
    if len(numbers) < LEAST_SPAN:
        return f"rank {numbers[0]}" if numbers else "no rank"
    spans = _spans(numbers)
    told = [word for span in spans[:MOST_SPANS] for word in _words(span)]
    left = sum(last - first + 1 for first, last in spans[MOST_SPANS:])
    if left:
        told.append(f"{left:,} more")
    return f"ranks {', '.join(told[:-1])} and {told[-1]}" if len(told) > 1 else f"ranks {told[0]}"


def groups_of(values: Mapping[int, Hashable]) -> list[tuple[int, ...]]:
    """Return the ranks that have equal values together, the largest group first, of equal ones that of rank 0.

    Examples:
        >>> groups_of({0: "a", 1: "b", 2: "b"})
        [(1, 2), (0,)]
    """
    found: dict[Hashable, list[int]] = {}
    for rank, value in values.items():
        found.setdefault(value, []).append(rank)
    return sorted((tuple(sorted(group)) for group in found.values()), key=lambda group: (-len(group), group))


def apart_said(groups: list[tuple[int, ...]]) -> str:
    """Return in words which groups differ from each other; each alone, where no two ranks agree.

    Examples:
        >>> apart_said([(0, 1, 3), (2,)]), apart_said([(0,), (1,)]), apart_said([(0,), (1,), (2,)])
        ('rank 2 differs from ranks 0, 1 and 3', 'ranks 0 and 1 differ', 'all 3 ranks differ from each other')
    """
    if len(groups[0]) == 1:
        few = len(groups) == LEAST_SPAN
        joined = tuple(rank for group in groups for rank in group)
        return f"{ranks_said(joined)} differ" if few else f"all {len(groups):,} ranks differ from each other"
    others = [rank for group in groups[1:] for rank in group]
    return f"{ranks_said(others)} differ{'s' if len(others) == 1 else ''} from {ranks_said(groups[0])}"


def _spans(numbers: list[int]) -> list[tuple[int, int]]:
    spans = [(numbers[0], numbers[0])]
    for number in numbers[1:]:
        if number == spans[-1][1] + 1:
            spans[-1] = spans[-1][0], number
        else:
            spans.append((number, number))
    return spans


def _words(span: tuple[int, int]) -> list[str]:
    first, last = span
    return [str(each) for each in range(first, last + 1)] if last - first < LEAST_SPAN else [f"{first} to {last}"]
