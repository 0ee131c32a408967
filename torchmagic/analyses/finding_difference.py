"""This file is the finding difference: which findings one run has and another has not."""

from collections.abc import Callable, Sequence

from torchmagic.records.finding import Finding

Key = Callable[[Finding], tuple[str, str | None]]


def without_match(findings: Sequence[Finding], others: Sequence[Finding]) -> list[Finding]:
    """Return the findings that have no counterpart among the others, in their order.

    A counterpart is of the same rule, and, where there are several, of the same place first; titles may differ, since
    they carry numbers. Each of the others is the counterpart of one finding at most.
    """
    free = list(others)
    left = _unmatched(findings, free, lambda one: (one.rule, one.parameter or one.module or one.optimizer))
    return _unmatched(left, free, lambda one: (one.rule, None))


def _unmatched(findings: Sequence[Finding], free: list[Finding], key: Key) -> list[Finding]:
    """Take the counterpart of each finding out of ``free``; return the findings that found none."""
    left = []
    for finding in findings:
        match = next((i for i, other in enumerate(free) if key(other) == key(finding)), None)
        if match is None:
            left.append(finding)
        else:
            del free[match]
    return left
