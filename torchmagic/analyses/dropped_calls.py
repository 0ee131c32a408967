"""This file finds activations whose result nobody takes: lines that compute something and throw it away."""

import ast

from torchmagic.analyses.syntax import last_name, tree_of

ACTIVATIONS = frozenset({
    "relu", "relu6", "leaky_relu", "elu", "selu", "celu", "gelu", "silu", "mish", "softplus", "tanh", "sigmoid",
    "hardswish", "hardtanh", "hardsigmoid", "prelu", "rrelu", "softsign", "act", "activation", "nonlinearity", "act_fn",
})  # fmt: skip


def lines_dropping_activations(source: str) -> list[int]:
    """Return the 1-based lines that apply an activation, not in place, and leave its result to nobody."""
    return sorted(
        node.lineno
        for node in ast.walk(tree_of(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        if last_name(node.value.func).lower() in ACTIVATIONS
        if not any(each.arg == "inplace" for each in node.value.keywords)
    )
