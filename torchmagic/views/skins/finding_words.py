"""This file is a finding in words: its place, its evidence, and its fix as a sentence with code to copy."""

import ast
import re
from textwrap import dedent

from torchmagic.records.finding import Finding
from torchmagic.views.numbers import as_number, as_share

_FENCE = re.compile(r"^\s*```\w*\s*$")
_QUOTED = re.compile(r"`([^`]+)`")
# What of Python no sentence in words is mistaken for: "lower" alone would be a name, "note: this" an annotation.
_STATEMENTS = (ast.Assign, ast.AugAssign, ast.For, ast.With, ast.If, ast.Assert)


def place(finding: Finding) -> list[tuple[str, str]]:
    """Name where it is: line, parameter or module, optimizer, step; only what is known.

    Returns:
        Pairs of words and the code they stand for; only the line has code.
    """
    source = (finding.source or "").strip()
    line = f"line {finding.line}" if finding.line is not None else ""
    words = [
        (", ".join(filter(None, [finding.file, line])) or ("source" if source else ""), source),
        (finding.parameter or finding.module or "", ""),
        (_named_optimizer(finding.optimizer or ""), ""),
        (f"step {finding.step}" if finding.step is not None else "", ""),
    ]
    return [pair for pair in words if pair[0]]


def _named_optimizer(name: str) -> str:
    """Return the name of an optimizer with the word in front, unless the name has it."""
    return name if not name or "optimizer" in name.lower() else f"optimizer {name}"


def evidence(finding: Finding) -> list[tuple[str, str]]:
    """Return the evidence as names and written values."""
    return [(name, value if isinstance(value, str) else as_number(value)) for name, value in finding.evidence.items()]


def standing(finding: Finding) -> str:
    """Say which rule spoke, how sure it is, and what it follows from."""
    said = f"rule {finding.rule}, confidence {as_share(finding.confidence)}"
    return f"{said}, follows from {', '.join(finding.causes)}" if finding.causes else said


def remedy(fix: str) -> tuple[str, str]:
    r"""Split a finding's fix: its first line is the sentence, the lines after it are code.

    A sentence that is all comment loses its sign: nobody would type it.

    Args:
        fix: The finding's ``fix``; fences around the code are allowed and dropped.

    Returns:
        The sentence and the code, either of which may be empty.

    Examples:
        >>> remedy("Clear the gradients first:\noptimizer.zero_grad()")
        ('Clear the gradients first:', 'optimizer.zero_grad()')
    """
    sentence, _, rest = fix.strip().partition("\n")
    lines = [line for line in rest.splitlines() if not _FENCE.match(line)]
    return sentence.strip().removeprefix("# "), dedent("\n".join(lines)).strip("\n")


def copyable(fix: str) -> str:
    """Return what a copy button should copy: the code, else the longest part in backticks, else nothing."""
    sentence, code = remedy(fix)
    return code or max(_QUOTED.findall(marked(sentence)), key=len, default="")


def marked(sentence: str) -> str:
    """Put backticks around a fix that is a line of Python as a whole, its comment included.

    Examples:
        >>> marked("optimizer.zero_grad()  # once a step")
        '`optimizer.zero_grad()  # once a step`'
        >>> marked("lower the learning rate")
        'lower the learning rate'
    """
    try:
        lines = ast.parse(sentence).body
    except (SyntaxError, ValueError):
        return sentence
    is_code = len(lines) == 1 and (
        isinstance(lines[0], _STATEMENTS) or (isinstance(lines[0], ast.Expr) and isinstance(lines[0].value, ast.Call))
    )
    return f"`{sentence}`" if is_code and "`" not in sentence else sentence


def spans(sentence: str) -> list[tuple[bool, str]]:
    """Split a sentence at its backticks into (is code, text) parts, so that each skin can mark code its own way.

    Examples:
        >>> spans("call `step()` last")
        [(False, 'call '), (True, 'step()'), (False, ' last')]
    """
    parts = _QUOTED.split(sentence)
    return [(index % 2 == 1, part) for index, part in enumerate(parts) if part]
