"""This file is the verdict: a run in one line."""

from collections import Counter

from torchmagic.records.finding import Severity
from torchmagic.session.run import Run


def verdict(run: Run) -> str:
    """Return what a reader wants to know first: how many findings of each severity, or that there are none."""
    count = Counter(finding.severity for finding in run.findings)
    words = [_counted(count[severity], severity) for severity in Severity if count[severity]]
    return ", ".join(words) if words else "no findings"


def _counted(number: int, severity: Severity) -> str:
    plural = "" if number == 1 or severity is Severity.INFO else "s"
    return f"{number} {severity.value}{plural}"
