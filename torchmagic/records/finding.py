"""This file is the finding: one diagnosis with its place, evidence and fix."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Severity(StrEnum):
    """How bad it is: wrong or dead, very likely not meant, or worth knowing."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One diagnosis that a rule drew from a run.

    Args:
        rule: Kebab-case id of the rule in the catalogue.
        severity: ``error``, ``warning`` or ``info``.
        confidence: How sure the rule is, 0 to 1; below 0.5 the finding is shown folded.
        title: One line that says what, where and how much.
        module: Module path, with the notebook variable's name in front when there is one.
        parameter: Parameter name, in the same form.
        optimizer: Name of the optimizer's variable, or its class.
        line: 1-based line in the cell or file.
        file: What to call that cell or file, such as ``cell 3`` or ``engine.py``; None for what was watched itself.
        source: Text of that line.
        step: First optimizer step (from 0) at which it held.
        evidence: The numbers that convinced the rule, with the threshold.
        why: The cause, in a sentence or two.
        fix: What to change, with a code line where one exists.
        causes: Ids of rules whose findings this one follows from.
    """

    rule: str
    severity: Severity
    confidence: float
    title: str
    module: str | None = None
    parameter: str | None = None
    optimizer: str | None = None
    line: int | None = None
    file: str | None = None
    source: str | None = None
    step: int | None = None
    evidence: Mapping[str, float | str] = field(default_factory=dict, hash=False)
    why: str = ""
    fix: str = ""
    causes: tuple[str, ...] = ()
