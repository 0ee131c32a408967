"""This file is the reasons to leave functions without ranges: others read their bytecode, or follow each line."""

import ast
import re
import sys
from collections.abc import Iterable
from types import CodeType, FunctionType

from torchmagic.analyses.syntax import last_name, tree_of
from torchmagic.probes.sites import source_of
from torchmagic.profiling.callables import Callables
from torchmagic.profiling.ranged_code import nested_codes

WITHOUT = "the lines inside functions are not timed"
_COMPUTED = f"{WITHOUT}, as the code uses {{}}, whose work ranges would break, and finds functions by computed names"
_SPARED = "the lines inside functions that {} compiles, or that what it compiles may call, are not timed"
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


class Spared:
    """The functions that stay as they are because a compiler reads their bytecode, or may.

    Attributes:
        compiler: Which one is at work; empty while none is.
        names: Bare names of the functions that it may read.
    """

    def __init__(self) -> None:
        self.compiler = ""
        self.names: set[str] = set()
        self._callables = Callables()
        self._files: set[str] = set()
        self._mentioning: set[str] = set()
        self._waiting: list[str] = []  # files that matter only once a compiler is at work
        self._roots: set[str] = set()

    @property
    def reason(self) -> str:
        """Why no function can have ranges; empty where some can."""
        return _COMPUTED.format(self.compiler) if self.compiler and self._callables.is_computed else ""

    @property
    def note(self) -> str:
        """What the reader has to know where some functions have none."""
        return _SPARED.format(self.compiler)

    def take(self, tree: ast.Module) -> None:
        """Take in a source that is in no file yet."""
        self._callables.add(tree)
        self.compiler = self.compiler or _compiler_in(tree)
        self._settle()

    def look(self, files: Iterable[str], compiled: Iterable[str] = (), *, is_compiled: bool = False) -> None:
        """Take in sources, and what is compiled already.

        Args:
            files: Files in play; those known are skipped.
            compiled: Bare names of functions that are compiled.
            is_compiled: Whether anything is.
        """
        new = [file for file in files if file not in self._files]
        self._files.update(new)
        self._waiting += new
        self._roots.update(compiled)
        self._mentioning.difference_update(new)
        suspicious = (source_of(file) for file in new if not self.compiler)
        self.compiler = self.compiler or next(
            filter(None, (_compiler_in(tree_of(each)) for each in suspicious if _SUSPICIOUS.search(each))), ""
        )
        self.compiler = self.compiler or ("torch.compile" if is_compiled else "")
        self._settle()

    def hear(self, files: Iterable[str]) -> None:
        """Take in files that may hand functions on, and tell nothing of a compiler: cells that ran long ago."""
        new = [file for file in files if file not in self._files and file not in self._mentioning]
        self._mentioning.update(new)
        self._waiting += new

    def holds(self, function: FunctionType) -> bool:
        """Whether a function, or one that it makes, is among them."""
        return bool(self.names) and self._holds(function.__code__)

    def _holds(self, code: CodeType) -> bool:
        return code.co_name in self.names or any(map(self._holds, nested_codes(code)))

    def _settle(self) -> None:
        if not self.compiler:
            return
        for file in self._waiting:
            self._callables.add(tree_of(source_of(file)))
        self._waiting.clear()
        self.names = self._callables.reachable(self._roots)


def _compiler_in(tree: ast.Module) -> str:
    """Return which compiler a source uses; empty for none."""
    return next(filter(None, map(_used_compiler, ast.walk(tree))), "")


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
