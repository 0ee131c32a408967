"""This file is what compiled code may call: the user's functions that are handed on, and all that these mention.

A compiler reads the code of the function that it is given, and of what that calls. A function that is only ever called
by its name, from code that nobody hands on, is read by none.
"""

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from torchmagic.analyses.syntax import last_name

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# They find functions by names that the source may not show; those of the second kind say which, if it is a constant.
_COMPUTING = {"eval", "exec", "globals", "locals", "vars", "__dict__", "__globals__"}
_BY_STRING = {"getattr": 1, "attrgetter": 0, "methodcaller": 0}
# Decorators that hand on nothing: what they decorate goes by its name.
_PLAIN_DECORATORS = {"property", "staticmethod", "classmethod", "setter", "no_grad", "inference_mode", "enable_grad"}
# Bases whose methods loaders call, and nobody within a model.
_LOADING = ("Dataset", "Sampler", "DataLoader", "IterDataPipe", "MapDataPipe")


@dataclass
class Callables:
    """The functions of some sources, all by their bare names, as far as others can get hold of them.

    Args:
        mentioned: Names that the functions of a name mention.
        methods: Methods of the classes of a name.
        handed: Names of functions that are values somewhere, or that a library calls.
        is_computed: Whether functions are found by names that are computed.
    """

    mentioned: dict[str, set[str]] = field(default_factory=dict)
    methods: dict[str, set[str]] = field(default_factory=dict)
    handed: set[str] = field(default_factory=set)
    is_computed: bool = False

    def add(self, tree: ast.Module) -> None:
        """Take in one source."""
        called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        for node in ast.walk(tree):
            if isinstance(node, _FUNCTIONS):
                self.mentioned.setdefault(node.name, set()).update(_names(node))
                if not {_decorator(each) for each in node.decorator_list} <= _PLAIN_DECORATORS:
                    self.handed.add(node.name)
            elif isinstance(node, ast.ClassDef):
                self._add_class(node)
            elif isinstance(node, ast.Call) and last_name(node.func) in _BY_STRING:
                self._add_name(node.args[_BY_STRING[last_name(node.func)] :])
            elif isinstance(node, ast.Name | ast.Attribute):
                self.is_computed = self.is_computed or last_name(node) in _COMPUTING
                if id(node) not in called:
                    self.handed.add(last_name(node))

    def reachable(self, roots: Iterable[str] = ()) -> set[str]:
        """Return the names of the functions that compiled code may call.

        Args:
            roots: Names of functions that are known to be compiled.
        """
        known = self.mentioned.keys()
        found: set[str] = set()
        todo = [each for each in (*self.handed, *roots) if each in known]
        while todo:
            name = todo.pop()
            if name in found:
                continue
            found.add(name)
            for each in self.mentioned.get(name, ()):
                todo += [each, *self.methods.get(each, ())]
        return found & known

    def _add_name(self, arguments: list[ast.expr]) -> None:
        """Take in the name by which something is found."""
        if arguments and isinstance(arguments[0], ast.Constant):
            self.handed |= set(str(arguments[0].value).split("."))
        else:
            self.is_computed = True

    def _add_class(self, node: ast.ClassDef) -> None:
        methods = {each.name for each in node.body if isinstance(each, _FUNCTIONS)}
        self.methods.setdefault(node.name, set()).update(methods)
        bases = {last_name(each.value if isinstance(each, ast.Subscript) else each) for each in node.bases}
        if bases and all(each.endswith(_LOADING) for each in bases) and not node.decorator_list:
            return
        inherits = bool(bases - {"object"}) or bool(node.keywords or node.decorator_list)
        # A library calls what a class overrides; and operators and brackets call methods by no name.
        self.handed |= methods if inherits else {each for each in methods if each.startswith("__")}


def _decorator(node: ast.expr) -> str:
    return last_name(node.func if isinstance(node, ast.Call) else node)


def _names(function: ast.AST) -> set[str]:
    """Return all names that a function mentions, and those of the functions and classes in it."""
    names = {last_name(node) for node in ast.walk(function)}
    return names | {node.name for node in ast.walk(function) if isinstance(node, (*_FUNCTIONS, ast.ClassDef))}
