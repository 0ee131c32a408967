"""This file finds the cut: the line at which code takes a result out of the graph on its way to a loss."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from torchmagic.analyses.cutting import cutting, line_of_cut
from torchmagic.analyses.recomputing import REENTRANT, recomputed
from torchmagic.analyses.scopes import Definition, Scope, name_of
from torchmagic.analyses.syntax import last_name

# Methods that run as an object is called.
_CALLED = ("forward", "__call__")
# What says only how large a tensor is, or what it is like; no value of it comes that way.
_SIZES = frozenset({"size", "dim", "numel", "nelement", "ndimension", "shape", "ndim", "dtype", "device", "len"})
# What other code's names may lead to, and how deep calls are followed.
DEEPEST = 4
# Stands for every name where it is not known by which names models are called.
ANYTHING = "*"
# Functions that make a tensor of numbers or of another tensor, and what makes these without changing a value.
_MAKING = frozenset({"tensor", "as_tensor", "Tensor", "FloatTensor", "from_numpy", "array", "asarray", "Parameter"})
_PLAIN = frozenset({"item", "tolist", "float", "detach", "detach_", "data"})
WITHOUT_GRADIENTS = "no_grad"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A place at which a graph ends.

    Args:
        file: File or cell in which it stands.
        function: Name of the function around it; empty at top level.
        line: Its 1-based line.
        how: What does it, such as ``.detach()`` or ``torch.tensor()``; ``no_grad`` where gradients are switched off.
    """

    file: str
    function: str
    line: int
    how: str

    @property
    def wraps(self) -> bool:
        """Whether it is a ``Variable``, as old code puts around what another cut has taken out of the graph."""
        return self._function == "Variable"

    @property
    def makes(self) -> bool:
        """Whether it makes a new tensor, as of a number that another cut has taken out of the graph before."""
        return self._function in _MAKING

    @property
    def plain(self) -> bool:
        """Whether it takes a value out of the graph just as it is, and could be left out."""
        return self._function in _PLAIN

    @property
    def _function(self) -> str:
        return self.how.removesuffix("()").rpartition(".")[2]

    @property
    def counts(self) -> bool:
        """Whether it makes a Python number, which is more often a size than a result."""
        return self.how in ("int()", "float()")

    @property
    def blind(self) -> bool:
        """Whether gradients are switched off there."""
        return self.how == WITHOUT_GRADIENTS


def origin_first(cuts: Sequence[Cut]) -> list[Cut]:
    """Return cuts in another order where the nearest only makes a tensor again of what was taken out on other lines."""
    first = next((each for each in cuts if not each.makes), None)
    if first is None or not first.plain or (first.file, first.line) == (cuts[0].file, cuts[0].line):
        return list(cuts)
    return [first, *(each for each in cuts if each is not first)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    """What is looked for: results of calls by these names, in these scopes."""

    scopes: Sequence[Scope]
    sources: frozenset[str]
    own: frozenset[str]  # classes in whose methods every part of ``self`` is such a result
    # How deep each function was looked into, by itself and by which of its arguments come from a model.
    depths: dict[tuple[int, frozenset[str]], int] = field(default_factory=dict)


def cuts_above(scope: Scope, results: Sequence[ast.expr], every: Sequence[Scope], models: frozenset[str]) -> list[Cut]:
    """Return the cuts between models and the expressions of a scope, those nearest to the expressions first.

    Args:
        scope: Scope in which the expressions stand.
        results: Losses, or what a function returns.
        every: All scopes that are known, in which functions that are called are looked up.
        models: Names by which models, or parts of one, are called.
    """
    search = _Search(scopes=every, sources=models, own=frozenset())
    given = [Definition(value=each, blind=scope.blind) for each in results]
    return list(dict.fromkeys(_in_scope(search, scope, given, frozenset(), 0)))


def cuts_within(classes: frozenset[str], every: Sequence[Scope]) -> list[Cut]:
    """Return the cuts in the ``forward`` of classes, between what it is given or calls, and what it returns."""
    return cuts_through([each for each in every if each.name == "forward" and each.owner in classes], every, classes)


def cuts_through(
    functions: Sequence[Scope], every: Sequence[Scope], classes: frozenset[str] = frozenset()
) -> list[Cut]:
    """Return the cuts in functions between what each is given, or calls of these classes, and what it returns."""
    search = _Search(scopes=every, sources=frozenset(), own=classes)
    found = [cut for each in functions for cut in _in_scope(search, each, each.results, frozenset(each.arguments), 0)]
    return list(dict.fromkeys(found))


def cuts_between(scope: Scope, results: Sequence[Definition], every: Sequence[Scope]) -> list[Cut]:
    """Return the cuts between what a function is given and some of what it computes."""
    search = _Search(scopes=every, sources=frozenset(), own=frozenset())
    return list(dict.fromkeys(_in_scope(search, scope, results, frozenset(scope.arguments), 0)))


def depends_on(scope: Scope, value: ast.expr, names: frozenset[str], every: Sequence[Scope]) -> bool:
    """Whether an expression of a scope is made of what one of some names holds."""
    return _depends(_Search(scopes=every, sources=frozenset(), own=frozenset()), scope, value, names)


def _in_scope(
    search: _Search, scope: Scope, results: Sequence[Definition], tainted: frozenset[str], depth: int
) -> Iterator[Cut]:
    """Yield the cuts on the way to some results, step by step backwards through what their names were given."""
    seen: set[str] = set()
    level = list(results)
    while level:
        following: list[Definition] = []
        for each in reversed(level):  # what comes last is nearest to the result
            cut = [node for node in ast.walk(each.value) if _depends(search, scope, node, tainted)]
            blind = each.blind or scope.blind
            if blind is not None and cut:
                yield Cut(file=scope.file, function=scope.name, line=blind, how=WITHOUT_GRADIENTS)
            for node in [*cut, *(node for node in ast.walk(each.value) if _is_recomputed(search, scope, node))]:
                how = cutting(node) or (REENTRANT if _is_recomputed(search, scope, node) else "")
                if how:
                    yield Cut(file=scope.file, function=scope.name, line=line_of_cut(node), how=how)
            for name in sorted({name_of(node) for node in ast.walk(each.value)} - seen - {""}):
                seen.add(name)
                following += scope.given(name)
            if depth < DEEPEST:
                yield from _in_calls(search, scope, each.value, tainted, depth)
        level = following


def _in_calls(search: _Search, scope: Scope, value: ast.expr, tainted: frozenset[str], depth: int) -> Iterator[Cut]:
    """Yield the cuts inside the user's functions that an expression calls."""
    for node in ast.walk(value):
        if not isinstance(node, ast.Call):
            continue
        name = name_of(node.func).rpartition(".")[2]
        classes = _classes_of(search, name)
        for called in search.scopes:
            # what a function returns beside its own backward is no way to the loss: it may be a number to show
            results = [Definition(value=each, blind=called.blind) for each in called.losses] or called.results
            runs = called.name == name or (called.owner in classes and called.name in _CALLED)
            if not runs or called is scope or not results:
                continue
            marked = {
                argument
                for argument, given in zip(called.arguments, node.args, strict=False)
                if _touches(search, scope, given, tainted)
            }
            marked |= {each.arg for each in node.keywords if each.arg and _touches(search, scope, each.value, tainted)}
            way = id(called), frozenset(marked)
            if search.depths.get(way, DEEPEST + 1) > depth:  # else nothing more is found there
                search.depths[way] = depth
                yield from _in_scope(search, called, results, frozenset(marked), depth + 1)


def _classes_of(search: _Search, name: str) -> frozenset[str]:
    """Return the classes whose objects a name is given anywhere: ``DiceLoss`` for ``self.dice = DiceLoss()``."""
    given = [each.value for scope in search.scopes for each in scope.definitions.get(name, ())]
    return frozenset(name_of(each.func).rpartition(".")[2] for each in given if isinstance(each, ast.Call)) - {""}


def _touches(search: _Search, scope: Scope, value: ast.expr, tainted: frozenset[str]) -> bool:
    """Whether an argument is a model, or comes from one."""
    return any(_is_source(search, scope, node) for node in ast.walk(value)) or _depends(search, scope, value, tainted)


def _depends(search: _Search, scope: Scope, value: ast.AST, tainted: frozenset[str]) -> bool:
    """Whether an expression's value comes from a model."""
    if not isinstance(value, ast.expr):
        return False
    if ANYTHING in search.sources:
        return True
    todo: list[ast.expr] = [value]
    seen: set[str] = set()
    while todo:
        for node in _of_values(todo.pop()):
            name = name_of(node)
            if isinstance(node, ast.Call) and _is_source(search, scope, node.func):
                return True
            if name and (name in tainted or _is_part(search, scope, node)):
                return True
            if name and name not in seen:
                seen.add(name)
                todo += [each.value for each in scope.given(name)]
    return False


def _is_part(search: _Search, scope: Scope, node: ast.AST) -> bool:
    """Whether a method names a part of its object that is looked for."""
    return isinstance(node, ast.Attribute) and bool(scope.owner) and _is_source(search, scope, node)


def _of_values(value: ast.AST) -> Iterator[ast.AST]:
    """Yield an expression and its parts, but for those of which only the size or the kind is asked."""
    asked = value.func if isinstance(value, ast.Call) else value
    if last_name(asked) in _SIZES:
        return
    yield value
    for each in ast.iter_child_nodes(value):
        yield from _of_values(each)


def _is_recomputed(search: _Search, scope: Scope, node: ast.AST) -> bool:
    """Whether a reentrant checkpoint runs a model, a part of one that is looked for, or a function that calls it."""
    run = recomputed(node)
    if run is None or ANYTHING in search.sources:
        return False
    if _is_source(search, scope, run) or any(
        _is_source(search, scope, each.value) for each in scope.given(name_of(run))
    ):
        return True
    name = name_of(run).rpartition(".")[2]
    called = [each for each in search.scopes if name and each.name == name]
    return any(_depends(search, each, result.value, frozenset()) for each in called for result in each.results)


def _is_source(search: _Search, scope: Scope, node: ast.AST) -> bool:
    """Whether a node names a model, a part of one that is looked for, or a function that runs a model."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        return scope.owner in search.own or node.attr in search.sources
    name = name_of(node)
    return bool(name) and (name in search.sources or name.rpartition(".")[2] in search.sources)
