"""This file finds lost derivatives: gradients taken without a graph of their own that make a whole term of a loss.

A loss is read backwards, from what ``backward`` is called on, through sums, products and torch's functions into the
user's own, but not into models: what a model is given of a derivative, as an attack gives it, is meant as it is.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from torchmagic.analyses.cutting import cutting
from torchmagic.analyses.scopes import Scope, name_of, scopes
from torchmagic.analyses.syntax import last_name

# How deep calls of the user's own functions are followed.
DEEPEST = 4
# Names under which torch's functions come, and those of its functions whose second argument is a target.
_LIBRARIES = frozenset({"torch", "F", "functional", "nn", "math", "np"})
_LOSSES = ("_loss", "Loss", "loss_fn", "criterion")
# Methods of tensors that compute with what they are called on.
_METHODS = frozenset({
    "abs", "add", "chunk", "clamp", "clamp_max", "clamp_min", "clone", "contiguous", "cpu", "cuda", "div", "double",
    "exp", "expand", "flatten", "float", "gather", "log", "logsumexp", "max", "mean", "min", "mul", "neg", "norm",
    "permute", "pow", "relu", "reshape", "split", "sqrt", "square", "squeeze", "std", "sub", "sum", "t", "to",
    "transpose", "unbind", "unsqueeze", "var", "view",
})  # fmt: skip
# How functions of torch's begin that make numbers out of nothing but a size.
_MAKING = ("rand", "zeros", "ones", "full", "empty", "eye", "arange", "linspace")


class Lines(NamedTuple):
    """The lines of a call, first and last, in one file or cell."""

    file: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class _Value:
    """An expression where it stands; ``given`` is what a function's arguments were called with, None at its root."""

    node: ast.expr
    scope: Scope
    given: "Mapping[str, _Value] | None" = None

    def beside(self, nodes: "Sequence[ast.expr]") -> "list[_Value]":
        """Return other expressions that stand in the same place."""
        return [_Value(each, self.scope, self.given) for each in nodes]


@dataclass(slots=True)
class _Reading:
    """All scopes that are known, and the expressions that were read, each for one of two questions."""

    every: Sequence[Scope]
    seen: set[tuple[int, bool]] = field(default_factory=set)


def lost_derivatives(texts: Mapping[str, str]) -> list[Lines]:
    """Return the calls of ``torch.autograd.grad`` without ``create_graph`` that make a whole term of some loss.

    Args:
        texts: Source code by file or cell.
    """
    every = _scopes_of(texts)
    found = [
        lines for scope in every for loss in scope.losses for lines in _lost(_Reading(every), _Value(loss, scope), 0)
    ]
    return list(dict.fromkeys(found))


def lost_before(texts: Mapping[str, str], place: tuple[frozenset[str], int]) -> list[Lines]:
    """Return the calls without ``create_graph`` of whose result a further derivative is taken, at one line.

    Args:
        texts: Source code by file or cell.
        place: The names of the line's text, and its number from 1.
    """
    files, line = place
    every = _scopes_of(texts)
    found = []
    for scope in every:
        for node in _calls_in(scope):
            last = node.end_lineno or node.lineno
            if scope.file in files and _asks_for_gradients(node) and node.lineno <= line <= last:
                taken = [_Value(each, scope) for each in node.args[:1] or _named(node, "outputs")]
                given = [_Value(each, one) for one in every for each in _given_to(one, scope.name)]
                found += [lines for each in (*taken, *given) for lines in _lost(_Reading(every), each, 0)]
    return list(dict.fromkeys(found))


def _scopes_of(texts: Mapping[str, str]) -> list[Scope]:
    return [scope for file, text in texts.items() for scope in scopes(text, file=file)]


def _calls_in(scope: Scope) -> Iterator[ast.Call]:
    """Yield the calls in what a scope assigns and returns."""
    values = [each.value for given in (*scope.definitions.values(), scope.results) for each in given]
    yield from (node for value in values for node in ast.walk(value) if isinstance(node, ast.Call))


def _given_to(scope: Scope, function: str) -> list[ast.expr]:
    """Return what a function is called with in a scope."""
    return [each for call in _calls_in(scope) if function and last_name(call.func) == function for each in call.args]


def _named(node: ast.Call, argument: str) -> list[ast.expr]:
    return [each.value for each in node.keywords if each.arg == argument]


def _lost(reading: _Reading, value: _Value, depth: int) -> Iterator[Lines]:
    """Yield the derivatives that make a whole term of a value."""
    node = value.node
    if (id(node), False) in reading.seen or depth > DEEPEST:
        return
    reading.seen.add((id(node), False))
    if _is_derivative(node):
        yield Lines(value.scope.file, node.lineno, node.end_lineno or node.lineno)
        return
    parts = _parts(reading, value)
    if _multiplies(node):
        graphs = [_has_graph(_Reading(reading.every), each, depth) for each in parts]
        parts = [each for each, graph in zip(parts, graphs, strict=True) if graph] if any(graphs) else parts
    for each in parts:
        yield from _lost(reading, each, depth + (each.given is not value.given))


def _has_graph(reading: _Reading, value: _Value, depth: int) -> bool:
    """Whether a value comes from a model, or from who knows where."""
    node = value.node
    if (id(node), True) in reading.seen or _is_derivative(node):
        return False
    reading.seen.add((id(node), True))
    if depth > DEEPEST or _is_unknown(reading, value):
        return True
    parts = _parts(reading, value)
    return any(_has_graph(reading, each, depth + (each.given is not value.given)) for each in parts)


def _parts(reading: _Reading, value: _Value) -> list[_Value]:
    """Return what a value is computed from, in one step backwards."""
    node = value.node
    if cutting(node) or _makes(node):
        return []
    if isinstance(node, ast.Call):
        return _parts_of_call(reading, value, node)
    operands: list[ast.expr] = []
    if isinstance(node, ast.BinOp):
        operands = [node.left] if isinstance(node.op, ast.Pow) else [node.left, node.right]
    elif isinstance(node, ast.UnaryOp):
        operands = [node.operand]
    elif isinstance(node, ast.IfExp):
        operands = [node.body, node.orelse]
    elif isinstance(node, (ast.Tuple, ast.List)):
        operands = node.elts
    elif isinstance(node, (ast.GeneratorExp, ast.ListComp)):
        operands = [node.elt]
    elif name := name_of(node):
        return _given(reading, value, name)
    elif isinstance(node, (ast.Subscript, ast.Attribute)):
        operands = [node.value]
    return value.beside(operands)


def _given(reading: _Reading, value: _Value, name: str) -> list[_Value]:
    """Return what a name was given: here, by who called the function, or for ``self.x`` by another method."""
    scope = value.scope
    if name in scope.arguments and name not in scope.definitions:
        known = (value.given or {}).get(name)
        return [known] if known is not None else []
    found = [_Value(each.value, scope, value.given) for each in scope.given(name) if each.blind is None]
    if found or not scope.owner:
        return found
    methods = [each for each in reading.every if each.owner == scope.owner and each is not scope]
    return [_Value(each.value, one, {}) for one in methods for each in one.definitions.get(name, ())]


def _parts_of_call(reading: _Reading, value: _Value, node: ast.Call) -> list[_Value]:
    given = [each for each in node.args if not isinstance(each, ast.Starred)]
    kind = _kind(value.scope, node)
    if kind:
        owner = [node.func.value] if kind == "method" and isinstance(node.func, ast.Attribute) else []
        return value.beside([*owner, *(given[:1] if kind == "loss" else given)])
    own = []
    for called in _called(reading, node):
        handed = dict(zip(called.arguments, given, strict=False))
        handed |= {each.arg: each.value for each in node.keywords if each.arg}
        env = dict(zip(handed, value.beside(list(handed.values())), strict=True))
        own += [_Value(each.value, called, env) for each in called.results if each.blind is None]
    return own


def _is_unknown(reading: _Reading, value: _Value) -> bool:
    """Whether a value is what a model gives, or an argument of a function that is called elsewhere."""
    node = value.node
    if isinstance(node, ast.Call):
        return not (cutting(node) or _makes(node) or _kind(value.scope, node) or _called(reading, node))
    name = name_of(node)
    return bool(name) and name in value.scope.arguments and value.given is None


def _kind(scope: Scope, node: ast.Call) -> str:
    """Return what a call is of: torch's ``function``, a ``loss``, a ``method`` of a tensor; empty for others."""
    name = name_of(node.func)
    made = [name_of(each.value.func) for each in scope.given(name) if isinstance(each.value, ast.Call)] if name else []
    if any(each.endswith(_LOSSES) for each in (name, *made)):
        return "loss"
    if name == "sum" or name.partition(".")[0] in _LIBRARIES:
        return "" if _asks_for_gradients(node) else "function"
    return "method" if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS else ""


def _called(reading: _Reading, node: ast.Call) -> list[Scope]:
    """Return the user's own functions of the name that is called; the forward of a module is none of them."""
    name = last_name(node.func)
    return [each for each in reading.every if name and each.name == name and each.results]


def _makes(node: ast.expr) -> bool:
    """Whether an expression makes numbers by a function of torch's, out of nothing but a size."""
    if not isinstance(node, ast.Call) or not last_name(node.func).startswith(_MAKING):
        return False
    return name_of(node.func).partition(".")[0] in _LIBRARIES


def _asks_for_gradients(node: ast.Call) -> bool:
    return name_of(node.func) in ("torch.autograd.grad", "autograd.grad", "grad")


def _is_derivative(node: ast.expr) -> bool:
    """Whether an expression asks for gradients without a graph of them."""
    if not isinstance(node, ast.Call) or not _asks_for_gradients(node):
        return False
    asked = next(iter(_named(node, "create_graph")), None)
    return asked is None or (isinstance(asked, ast.Constant) and not asked.value)


def _multiplies(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div, ast.MatMult))
