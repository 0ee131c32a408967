"""This file is the choice of findings that fail what was watched: from a severity on, or of some rules."""

from collections.abc import Iterable
from fnmatch import fnmatchcase

from torchmagic.records.finding import Finding, Severity

# Words as ``Settings.fail_on`` has them; every other word there is the id of a rule, or a pattern.
_FROM = {
    "never": (),
    "error": (Severity.ERROR,),
    "warning": (Severity.ERROR, Severity.WARNING),
    "info": tuple(Severity),
}


def failing(findings: Iterable[Finding], fail_on: str) -> tuple[Finding, ...]:
    """Return the findings that are to fail.

    Args:
        findings: All findings of a run.
        fail_on: Severities and rules with commas between them, as ``Settings.fail_on`` keeps them.
    """
    words = fail_on.replace(",", " ").split()
    severities = {severity for word in words for severity in _FROM.get(word, ())}
    rules = [word for word in words if word not in _FROM]
    return tuple(
        each
        for each in findings
        if each.severity in severities or any(fnmatchcase(each.rule, pattern) for pattern in rules)
    )


class FindingsError(RuntimeError):
    """Findings that fail what was watched.

    Args:
        findings: Those findings.
    """

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(f"{each.severity}: {each.title} ({each.rule})" for each in self.findings))

    def _render_traceback_(self) -> list[str]:
        """Show the findings alone, for IPython: no line of the user's raised this."""
        return [f"{type(self).__name__}: {self}"]
