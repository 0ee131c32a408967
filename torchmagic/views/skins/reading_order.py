"""This file is the reading order of findings: each root, and folded under it what is like it or follows from it."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from torchmagic.analyses.counting import few
from torchmagic.records.finding import Finding

CERTAIN = 0.5  # below it a finding is a guess and is shown folded (the contract of ``Finding``)


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """A finding to be read first, with those that say the same of other places, and those that follow from it."""

    finding: Finding
    alike: tuple[Finding, ...] = ()
    consequences: tuple[Finding, ...] = ()

    @property
    def doubtful(self) -> bool:
        """Whether nothing here is certain enough to be shown open."""
        return all(one.confidence < CERTAIN for one in (self.finding, *self.alike, *self.consequences))


def reading_order(findings: Sequence[Finding]) -> list[Root]:
    """Group findings under their causes, and those that are alike under the first, without changing their order.

    A finding goes under the first finding whose rule its ``causes`` lead to. It stays a root when no cause is among
    the findings, when the causes run in a circle, and when a certain finding would be hidden under a doubtful one.
    Roots are alike when rule, severity, line, cause and fix are the same and only the named place is another.

    Args:
        findings: Findings of one run, those to be read first in front.

    Returns:
        The roots: certain ones first, doubtful ones (confidence below 0.5) last.
    """
    first: dict[str, Finding] = {}
    for finding in findings:
        first.setdefault(finding.rule, finding)
    under: dict[int, list[Finding]] = {}
    roots: list[Finding] = []
    for finding in findings:
        root = _root_of(finding, first)
        if root is finding:
            roots.append(finding)
        else:
            under.setdefault(id(root), []).append(finding)
    groups: dict[Hashable, list[Finding]] = {}
    for root in roots:
        groups.setdefault(_saying(root), []).append(root)
    ordered = [
        Root(finding=root, alike=tuple(alike), consequences=tuple(under.get(id(root), ())))
        for root, *alike in groups.values()
    ]
    return sorted(ordered, key=lambda root: root.doubtful)


def _saying(finding: Finding) -> Hashable:
    """Return what a finding says beside its place: one thing for those that are alike, its own if it names no place."""
    if not named_place(finding):
        return id(finding)
    where = (finding.file, finding.line)
    return finding.rule, finding.severity, finding.confidence >= CERTAIN, where, finding.why, finding.fix


def named_place(finding: Finding) -> str:
    """Return the parameter, module or optimizer that a finding is about, or nothing."""
    return finding.parameter or finding.module or finding.optimizer or ""


def alike_words(root: Root) -> str:
    """Say how many findings are like a root, and of which places they are."""
    return f"{len(root.alike):,} more like this: {few([named_place(each) for each in root.alike])}"


def _root_of(finding: Finding, first: dict[str, Finding]) -> Finding:
    seen, here = {finding.rule}, finding
    while True:
        cause = next((first[rule] for rule in here.causes if _explains(first.get(rule), finding)), None)
        if cause is None:
            return here
        if cause.rule in seen:  # a circle has no root: each of its findings stands for itself
            return finding
        seen.add(cause.rule)
        here = cause


def _explains(cause: Finding | None, finding: Finding) -> bool:
    return cause is not None and (cause.confidence >= CERTAIN or finding.confidence < CERTAIN)
