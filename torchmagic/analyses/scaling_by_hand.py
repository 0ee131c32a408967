"""This file finds code that takes the loss scale out of gradients by hand."""

import ast

from torchmagic.analyses.source_lines import nodes_of


def unscales_by_hand(source: str) -> bool:
    """Return whether a line of code changes a ``.grad`` by something that is called a scale."""
    for node in nodes_of(source):
        if isinstance(node, ast.AugAssign | ast.Assign | ast.Expr):
            names = {_name(each) for each in ast.walk(node)}
            if "grad" in names and any("scale" in name for name in names):
                return True
    return False


def _name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
