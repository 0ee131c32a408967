"""This file is the reasons to leave functions without ranges: others read their bytecode, or follow each line."""

import ast
import re
import sys
from collections.abc import Iterable

from torchmagic.analyses.syntax import last_name, tree_of

WITHOUT = "the lines inside functions are not timed"
COMPILED_ALIVE = f"{WITHOUT}, as torch.compile made code of some that ranges would break"
_COMPILED_SOURCE = f"{WITHOUT}, as the code uses {{}}, whose work ranges would break"
# Modules whose ``compile`` is not that of torch.
_OTHER_COMPILE = {"re", "regex", "ast", "codeop"}
# What compiles the bytecode of the functions that it is given.
_READ_BYTECODE = ("numba", "torch._dynamo")
_SUSPICIOUS = re.compile(r"compile|numba|_dynamo")


def following() -> str:
    """Return who follows each line of this process already, as a sentence for the reader; empty where nobody does."""
    if sys.gettrace() is not None:
        return f"{WITHOUT} while a tracer such as a debugger or coverage is on"
    pydevd = sys.modules.get("pydevd")
    debugger = pydevd.get_global_debugger() if pydevd is not None else None
    return f"{WITHOUT} while breakpoints are set" if getattr(debugger, "breakpoints", None) else ""


def compiled_sources(sources: Iterable[str]) -> str:
    """Return why functions cannot have ranges, given the sources in play; empty where they can."""
    return next(filter(None, (compiled_tree(tree_of(each)) for each in sources if _SUSPICIOUS.search(each))), "")


def compiled_tree(tree: ast.Module) -> str:
    """Return the same, given one source as a tree."""
    return next((_COMPILED_SOURCE.format(used) for used in map(_used_compiler, ast.walk(tree)) if used), "")


def _used_compiler(node: ast.AST) -> str:
    """Return which compiler a node uses or imports; empty for none."""
    if isinstance(node, ast.Import):
        modules = [each.name for each in node.names]
    elif isinstance(node, ast.ImportFrom):
        modules = [f"{node.module or ''}.{each.name}" for each in node.names]
    elif isinstance(node, ast.Attribute) and node.attr == "compile" and last_name(node.value) not in _OTHER_COMPILE:
        modules = ["torch.compile"]
    else:
        return ""
    if "torch.compile" in modules:
        return "torch.compile"
    return next((name for name in _READ_BYTECODE for module in modules if f"{module}.".startswith(f"{name}.")), "")
