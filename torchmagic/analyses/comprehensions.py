"""This file gives the variables of comprehensions names of their own: outside they mean something else, or nothing."""

import ast
import copy

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def told_apart(tree: ast.Module) -> ast.Module:
    """Return a copy of a tree in which no comprehension's variable has the name of another one."""
    if not any(isinstance(node, COMPREHENSIONS) for node in ast.walk(tree)):
        return tree
    tree = copy.deepcopy(tree)
    every = [node for node in ast.walk(tree) if isinstance(node, COMPREHENSIONS)]
    for number, each in enumerate(reversed(every)):  # the inner ones first
        _rename(each, number)
    return tree


def _rename(comprehension: ast.AST, number: int) -> None:
    names = [node for node in ast.walk(comprehension) if isinstance(node, ast.Name)]
    own = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    for node in names:
        if node.id in own and "@" not in node.id:
            node.id = f"{node.id}@{number}"
