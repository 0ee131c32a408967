"""This file is the ways in which an expression takes a tensor out of its graph."""

import ast

from torchmagic.analyses.scopes import ORDERING, name_of

# Methods and attributes that give a tensor without a graph, or no tensor at all.
_METHODS = frozenset({
    "detach", "detach_", "item", "tolist", "numpy", "argmax", "argmin", "argsort",
    "long", "int", "short", "byte", "bool", "nonzero", "eq", "ne", "gt", "lt", "ge", "le",
})  # fmt: skip
# Functions that do so with what they are given.
_FUNCTIONS = frozenset({
    "tensor", "as_tensor", "from_numpy", "Tensor", "FloatTensor", "array", "asarray", "Parameter", "Variable", "float",
    "int", "detach", "argmax", "argmin", "argsort", "one_hot",
})  # fmt: skip
# Names under which functions come, and no tensors.
_LIBRARIES = frozenset({"torch", "np", "numpy", "nn", "F", "autograd"})
# Functions that also compare two tensors, where they are given no dimension.
_OF_TWO = frozenset({"max", "min"})


def cutting(node: ast.AST) -> str:
    """Return what an expression does that ends the graph of its operand; empty when it does not."""
    if isinstance(node, ast.Attribute) and node.attr == "data":
        return ".data"
    if isinstance(node, ast.Compare) and not any(
        isinstance(each, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for each in node.ops
    ):
        return "comparison"
    if not isinstance(node, ast.Call):
        return _indices_of(node)
    name = name_of(node.func)
    last = name.rpartition(".")[2] or (node.func.attr if isinstance(node.func, ast.Attribute) else "")
    if name == "map" and node.args:
        name = name_of(node.args[0])  # ``map(float, terms)``
        last = name.rpartition(".")[2]
    if last in _FUNCTIONS and node.args:
        return (
            f"{name or last}()" if (name and "." not in name) or name.partition(".")[0] in _LIBRARIES else f".{last}()"
        )
    if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
        return f".{node.func.attr}()"
    return ""


def _indices_of(node: ast.AST) -> str:
    """Return ``max()[1]`` where an expression takes the indices of ``max`` and not its values; else nothing."""
    if not isinstance(node, (ast.Subscript, ast.Attribute)) or not isinstance(call := node.value, ast.Call):
        return ""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else name_of(call.func)
    if isinstance(node, ast.Attribute):
        taken = node.attr == "indices"
    else:
        second = isinstance(node.slice, ast.Constant) and node.slice.value == 1
        taken = second and (name not in _OF_TWO or _has_dim(call))
    return f"{name}()[1]" if taken and name in ORDERING else ""


def _has_dim(call: ast.Call) -> bool:
    """Whether a call is given the dimension along which it works, and not a second tensor."""
    given = [each.operand if isinstance(each, ast.UnaryOp) else each for each in call.args]
    return any(isinstance(each, ast.Constant) for each in given) or any(each.arg == "dim" for each in call.keywords)


def line_of_cut(node: ast.AST) -> int:
    """Return the line on which the cut itself is written, which in a chain of calls over several lines is its last."""
    if isinstance(node, ast.Subscript):
        return line_of_cut(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.end_lineno or node.lineno
    if isinstance(node, ast.Attribute):
        return node.end_lineno or node.lineno
    return int(getattr(node, "lineno", 0))
