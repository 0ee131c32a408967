"""This file finds a line in the notebook's earlier cells, which Python keeps so that tracebacks can show them."""

import ast
import linecache

from torchmagic.records.place import Place

# How IPython and its kernel name the files of cells.
CELLS = ("<ipython-input", "ipykernel_")
# The newest cells are searched, and those that are not a program by themselves.
MOST_CELLS, MOST_CHARACTERS = 64, 40_000


def line_making(name: str, called: str) -> Place | None:
    """Return the newest line in a cell that gives a name the result of a call, such as of ``DataLoader``.

    Args:
        name: A variable, or the last part of ``trainer.loader``.
        called: Name of a class or a function, or the end of it.
    """
    last = name.rpartition(".")[2]
    files = [file for file in list(linecache.cache) if any(part in file for part in CELLS)]
    for file in reversed(files[-MOST_CELLS:]):
        source = "".join(linecache.getlines(file))
        if called not in source or last not in source or len(source) > MOST_CHARACTERS:
            continue
        try:
            nodes = list(ast.walk(ast.parse(source)))
        except (SyntaxError, ValueError):
            continue
        found = [node.lineno for node in nodes if isinstance(node, ast.Assign) and _gives(node, last, called)]
        if found:
            return Place(file=file, line=found[-1], source=linecache.getline(file, found[-1]).strip())
    return None


def _gives(node: ast.Assign, name: str, called: str) -> bool:
    targets = {_last(each) for target in node.targets for each in ast.walk(target)}
    return name in targets and any(
        isinstance(each, ast.Call) and _last(each.func).endswith(called) for each in ast.walk(node.value)
    )


def _last(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
