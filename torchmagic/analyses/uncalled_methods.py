"""This file finds methods that a line names without calling them: ``optimizer.step`` where ``()`` is missing."""

import ast
from dataclasses import replace

from torchmagic.analyses.source_lines import line_at
from torchmagic.analyses.syntax import last_name, tree_of
from torchmagic.records.finding import Finding
from torchmagic.session.run import Run


def uncalled(source: str, method: str, *, name: str = "") -> tuple[int, str] | None:
    """Return line and text of the first statement that is nothing but a method's name; None where there is none.

    Args:
        source: The code.
        method: The method.
        name: What has the method; its last part must be the same. Empty for anything.
    """
    last = name.rpartition(".")[2]
    statements = [node for node in ast.walk(tree_of(source)) if isinstance(node, ast.Expr)]
    found = [
        (node.lineno, ast.unparse(node.value))
        for node in statements
        if isinstance(node.value, ast.Attribute)
        and node.value.attr == method
        and (not last or last_name(node.value.value) == last)
    ]
    return min(found, default=None)


def told_at_uncalled(run: Run, finding: Finding, method: str, *, name: str = "") -> Finding:
    """Return a finding about a call that never came, placed at the line that only names the method, if there is one."""
    for file, source in (("", run.source), *run.texts.items()):
        found = uncalled(source, method, name=name)
        if found is not None:
            line, text = found
            why = f"{text} is named without parentheses, and so not called. {finding.why}"
            return replace(
                finding, line=line, file=file or None, source=line_at(source, line), why=why, fix=f"{text}()"
            )
    return finding
