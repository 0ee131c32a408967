"""This file finds lines in source code: where a name is assigned, where a function is called."""

import ast
from collections.abc import Iterator

_OPERATORS = {"/": ast.Div, "**": ast.Pow}


def lines_calling(source: str, names: tuple[str, ...]) -> list[int]:
    """Return the 1-based lines that call one of the functions or methods, or use one of the operators ``/`` ``**``."""
    operators = tuple(_OPERATORS[name] for name in names if name in _OPERATORS)
    lines = set()
    for node in _walk(source):
        if isinstance(node, ast.Call) and _last_name(node.func) in names:
            lines.add(node.lineno)
        elif isinstance(node, ast.BinOp) and operators and isinstance(node.op, operators):
            lines.add(node.lineno)
    return sorted(lines)


def lines_assigning(source: str, attribute: str) -> list[int]:
    """Return the 1-based lines that assign to an attribute or item of this name, as ``net.fc = …``."""
    lines = set()
    for node in _walk(source):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []  # noqa: E501 - one expression
        for target in targets:
            if _last_name(target) == attribute and not isinstance(target, ast.Name):
                lines.add(node.lineno)
    return sorted(lines)


def line_at(source: str, line: int) -> str:
    """Return the text of a 1-based line, stripped; empty when there is none."""
    lines = source.splitlines()
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""


def _walk(source: str) -> Iterator[ast.AST]:
    try:
        tree = ast.parse("\n".join(_python_only(source)))
    except SyntaxError:
        return
    yield from ast.walk(tree)


def _python_only(source: str) -> Iterator[str]:
    """Blank the lines that only IPython understands, so that line numbers stay."""
    for line in source.splitlines():
        bare = line.lstrip()
        indent = line[: len(line) - len(bare)]
        yield f"{indent}pass" if bare.startswith(("%", "!", "?")) or bare.endswith("?") else line


def _last_name(node: ast.AST) -> str | None:
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return str(node.slice.value)
    return None
