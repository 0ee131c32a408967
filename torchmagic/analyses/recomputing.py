"""This file finds what is run by a reentrant checkpoint, which gives no graph to what is computed from plain inputs."""

import ast

from torchmagic.analyses.scopes import name_of

REENTRANT = "a reentrant checkpoint"
_CHECKPOINTS = frozenset({"checkpoint", "checkpoint_sequential"})


def recomputed(node: ast.AST) -> ast.expr | None:
    """Return what a reentrant checkpoint is given to run; None for anything else."""
    if not isinstance(node, ast.Call) or name_of(node.func).rpartition(".")[2] not in _CHECKPOINTS or not node.args:
        return None
    flag = next((each.value for each in node.keywords if each.arg == "use_reentrant"), None)
    plain = isinstance(flag, ast.Constant) and flag.value is False
    return None if plain else node.args[0]
