"""This file finds code that takes the loss scale out of gradients by hand."""

import ast

from torchmagic.analyses.syntax import last_name, tree_of


def unscales_by_hand(source: str) -> bool:
    """Return whether a line of code changes a ``.grad`` by something that is called a scale."""
    for node in ast.walk(tree_of(source)):
        if isinstance(node, ast.AugAssign | ast.Assign | ast.Expr):
            names = {last_name(each) for each in ast.walk(node)}
            if "grad" in names and any("scale" in name for name in names):
                return True
    return False
