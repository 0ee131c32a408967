"""This file is silence that the user asked for: findings that a setting or a comment on their line leaves out."""

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from torchmagic.records.finding import Finding

# A comment behind the line, as linters have it: ids or patterns in brackets, or nothing for all rules.
_COMMENT = re.compile(r"#\s*torchmagic:\s*ignore(?:\[(?P<rules>[^\]]*)\])?")


def audible(findings: Iterable[Finding], ignored: Sequence[str]) -> list[Finding]:
    """Return the findings that nobody asked to leave out.

    Args:
        findings: All findings of a run.
        ignored: Ids of rules, or patterns in which ``*`` stands for any letters.
    """
    return [each for each in findings if not _matches(each.rule, ignored) and not _waved_through(each)]


def _waved_through(finding: Finding) -> bool:
    """Whether the line that a finding points at says that it is meant."""
    comment = _COMMENT.search(finding.source or "")
    if comment is None:
        return False
    named = comment["rules"]
    return named is None or _matches(finding.rule, named.replace(",", " ").split())


def _matches(rule: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(rule, pattern) for pattern in patterns)
