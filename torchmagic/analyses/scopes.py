"""This file reads the scopes of source code: what each function assigns, returns, and calls ``backward`` on."""

import ast
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from torchmagic.analyses.comprehensions import COMPREHENSIONS, told_apart
from torchmagic.analyses.syntax import tree_of

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_GROWING = ("append", "extend", "add", "insert", "update", "setdefault")
# Functions that return values, and the indices of these, which have no graph.
ORDERING = frozenset({"max", "min", "topk", "sort", "median", "mode", "kthvalue", "cummax", "cummin"})
_WITHOUT_GRADIENTS = ("no_grad", "inference_mode")
# What hands a loss on to a backward, given as argument, and methods whose result a trainer calls ``backward`` on.
_ENGINES = ("autograd", "accelerator", "fabric", "engine")
_STEPS = ("training_step", "compute_loss")


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A value that a name is given: the expression, and the line that switches gradients off around it, if any."""

    value: ast.expr
    blind: int | None


@dataclass(slots=True, kw_only=True)
class Scope:
    """A function, or the code at top level.

    Args:
        name: Name of the function; empty at top level.
        file: File or cell in which it stands.
        owner: Name of the class that it is a method of; empty for none.
        arguments: Names of its arguments, without ``self``.
        parent: Scope around it.
        definitions: What each name is given anywhere in it; ``self.x`` is the name ``x``.
        losses: Expressions on which ``backward`` is called, be it by the trainer that a method returns them to.
        results: What it returns.
        dropped: What it throws away on purpose: what ``_`` is given.
        blind: Line of a decorator that switches gradients off.
    """

    name: str
    file: str = ""
    owner: str = ""
    arguments: tuple[str, ...] = ()
    parent: "Scope | None" = None
    definitions: dict[str, list[Definition]] = field(default_factory=dict)
    losses: list[ast.expr] = field(default_factory=list)
    results: list[Definition] = field(default_factory=list)
    dropped: list[ast.expr] = field(default_factory=list)
    blind: int | None = None

    def given(self, name: str) -> list[Definition]:
        """Return what a name is given here, or, where it is not, in the scopes around."""
        found = self.definitions.get(name)
        if found is not None or name in self.arguments or self.parent is None:
            return found or []
        return self.parent.given(name)


def scopes(source: str, *, file: str = "") -> list[Scope]:
    """Return the scopes of some source, the outermost first; none where it cannot be read."""
    body = told_apart(tree_of(source)).body
    if not body:
        return []
    found = [Scope(name="", file=file)]
    _read(body, found[0], found, owner="", blind=None)
    for scope in found:
        if scope.owner and scope.name in _STEPS and not scope.losses:
            scope.losses = [loss for each in scope.results for loss in _losses_in(each.value)]
    return found


def is_dropped(every: Iterable[Scope], names: Collection[str]) -> bool:
    """Whether what one of some functions or objects gives is thrown away on purpose, wherever it is called."""
    every = list(every)
    dropped = [value for scope in every for value in scope.dropped]
    known = {id(value) for value in dropped}
    used = [each.value for scope in every for given in scope.definitions.values() for each in given]
    used += [each.value for scope in every for each in scope.results]
    used += [loss for scope in every for loss in scope.losses]
    kept = {name for value in used if id(value) not in known for name in _calls(value)}
    return any(name in names and name not in kept for value in dropped for name in _calls(value))


def _calls(value: ast.expr) -> Iterator[str]:
    """Yield the last names of what is called in an expression."""
    for node in ast.walk(value):
        if isinstance(node, ast.Call):
            yield name_of(node.func).rpartition(".")[2]


def name_of(node: ast.AST) -> str:
    """Return a name, attribute or item as one dotted name, without a leading ``self.``; empty for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = name_of(node.value)
        return node.attr if before == "self" else f"{before}.{node.attr}" if before else ""
    if isinstance(node, ast.Subscript):
        return name_of(node.value)
    return ""


def _read(body: list[ast.stmt], scope: Scope, found: list[Scope], *, owner: str, blind: int | None) -> None:
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            _read(statement.body, scope, found, owner=statement.name, blind=None)
        elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.append(_function(statement, scope, owner))
            _read(statement.body, found[-1], found, owner="", blind=found[-1].blind)
        else:
            _statement(statement, scope, blind)
            inner = blind
            if isinstance(statement, (ast.With, ast.AsyncWith)) and any(
                _switches_off(item.context_expr) for item in statement.items
            ):
                inner = statement.lineno
            for part in _bodies(statement):
                _read(part, scope, found, owner="", blind=inner)


def _bodies(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        part = getattr(statement, name, None)
        if isinstance(part, list):
            yield part
    for handler in getattr(statement, "handlers", []):
        yield handler.body
    for case in getattr(statement, "cases", []):
        yield case.body


def _function(statement: ast.FunctionDef | ast.AsyncFunctionDef, parent: Scope, owner: str) -> Scope:
    given = statement.args
    names = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    blind = next((each.lineno for each in statement.decorator_list if _switches_off(each)), None)
    arguments = tuple(names[1:] if owner and names[:1] == ["self"] else names)
    return Scope(name=statement.name, file=parent.file, owner=owner, arguments=arguments, parent=parent, blind=blind)


def _statement(statement: ast.stmt, scope: Scope, blind: int | None) -> None:
    """Note what one statement assigns, returns and calls ``backward`` on; not what the statements in it do."""
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            _give(target, statement.value, scope, blind)
        scope.dropped += [statement.value] * all(name_of(target) == "_" for target in statement.targets)
    elif isinstance(statement, (ast.AugAssign, ast.AnnAssign)) and statement.value is not None:
        _give(statement.target, statement.value, scope, blind)
    elif isinstance(statement, (ast.For, ast.AsyncFor)):
        _give(statement.target, statement.iter, scope, blind)
    elif isinstance(statement, ast.Return) and statement.value is not None:
        scope.results.append(Definition(value=statement.value, blind=blind))
    for node in _expressions(statement):
        _expression(node, scope, blind)


def _expression(node: ast.expr, scope: Scope, blind: int | None) -> None:
    if isinstance(node, ast.NamedExpr):
        _give(node.target, node.value, scope, blind)
    elif isinstance(node, ast.Call):
        _call(node, scope, blind)
    elif isinstance(node, COMPREHENSIONS):
        for each in node.generators:
            _give(each.target, each.iter, scope, blind)


def _call(node: ast.Call, scope: Scope, blind: int | None) -> None:
    if not isinstance(node.func, ast.Attribute):
        return
    if node.func.attr == "manual_backward" and node.args:
        scope.losses.append(node.args[0])
    elif node.func.attr == "backward":
        owner = name_of(node.func.value)
        engine = owner.rpartition(".")[2] in _ENGINES and node.args
        scope.losses.append(node.args[0] if engine else node.func.value)
    elif node.func.attr in _GROWING and name_of(node.func.value):
        for each in node.args:
            _give(node.func.value, each, scope, blind)


def _losses_in(value: ast.expr) -> list[ast.expr]:
    """Return the losses in what a method returns to a trainer: alone, first of several, or by that name in a dict."""
    if isinstance(value, ast.IfExp):
        return [*_losses_in(value.body), *_losses_in(value.orelse)]
    if isinstance(value, ast.Dict):
        named = zip(value.keys, value.values, strict=True)
        return [each for key, each in named if isinstance(key, ast.Constant) and key.value == "loss"]
    return value.elts[:1] if isinstance(value, ast.Tuple) else [value]


def _give(target: ast.expr, value: ast.expr, scope: Scope, blind: int | None) -> None:
    if isinstance(target, (ast.Tuple, ast.List)):
        parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
        for i, each in enumerate(target.elts):
            _give(each, parts[i] if len(parts) == len(target.elts) else _part(value, i), scope, blind)
    elif isinstance(target, ast.Starred):
        _give(target.value, value, scope, blind)
    elif name := name_of(target):
        scope.definitions.setdefault(name, []).append(Definition(value=value, blind=blind))
        holder = name_of(target.value) if isinstance(target, ast.Attribute) else ""
        if holder and holder != "self":  # an object is made of what its attributes are given
            scope.definitions.setdefault(holder, []).append(Definition(value=value, blind=blind))


def _part(value: ast.expr, number: int) -> ast.expr:
    """Return what the name at a place of ``values, indices = max(x, 1)`` is given; of others, the whole."""
    if not isinstance(value, ast.Call) or _called(value) not in ORDERING:
        return value
    return ast.copy_location(ast.Subscript(value=value, slice=ast.Constant(value=number), ctx=ast.Load()), value)


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else name_of(call.func)


def _expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """Yield the expressions of a statement, without those of the statements and functions inside it."""
    todo: list[ast.AST] = [each for each in ast.iter_child_nodes(statement) if not isinstance(each, ast.stmt)]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.expr):
            yield node
        if not isinstance(node, (*_FUNCTIONS, ast.ExceptHandler, ast.match_case)):
            todo += ast.iter_child_nodes(node)


def _switches_off(node: ast.expr) -> bool:
    """Whether a context manager or decorator switches gradients off."""
    called = node.func if isinstance(node, ast.Call) else node
    last = name_of(called).rpartition(".")[2]
    given = node.args[0] if isinstance(node, ast.Call) and node.args else None
    fixed = given.value if isinstance(given, ast.Constant) else None  # what is worked out may refuse
    return fixed is not True if last == "set_grad_enabled" else last in _WITHOUT_GRADIENTS and fixed is not False
