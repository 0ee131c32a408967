"""This file finds cuts in hooks: what they give back without its graph, and what they keep so for other code to use."""

import ast
from collections.abc import Iterator, Sequence

from torchmagic.analyses.cuts import Cut, cuts_between, depends_on
from torchmagic.analyses.scopes import Definition, Scope, name_of
from torchmagic.analyses.syntax import tree_of

LAMBDA = "<lambda>"


def lambda_at(source: str, file: str, line: int) -> Scope | None:
    """Return the only function without a name that begins at a line, as a scope; None for none or several."""
    found = [node for node in ast.walk(tree_of(source)) if isinstance(node, ast.Lambda) and node.lineno == line]
    if len(found) != 1:
        return None
    arguments = tuple(each.arg for each in (*found[0].args.posonlyargs, *found[0].args.args))
    return Scope(name=LAMBDA, file=file, arguments=arguments, results=[Definition(value=found[0].body, blind=None)])


def cuts_kept(hook: Scope, own: Sequence[str], every: Sequence[Scope]) -> list[Cut]:
    """Return the cuts between what a hook is given and what it keeps, where a loss or a result is made of that.

    Args:
        hook: The hook.
        own: Names of its own variables, which other code does not see.
        every: All scopes that are known.
    """
    found: list[Cut] = []
    for name, given in hook.definitions.items():
        if name.partition(".")[0] not in own and _is_used(name, hook, every):
            found += cuts_between(hook, given, every)
    return list(dict.fromkeys(found))


def _is_used(name: str, hook: Scope, every: Sequence[Scope]) -> bool:
    """Whether what a name holds comes into a loss, or into what a function returns."""
    for scope in every:
        if scope is hook or (scope.name and name in scope.definitions):
            continue
        names = {each for each in _names(scope) if each == name or each.endswith(f".{name}")}
        results = scope.losses or [each.value for each in scope.results]
        if names and any(depends_on(scope, result, frozenset(names), every) for result in results):
            return True
    return False


def _names(scope: Scope) -> Iterator[str]:
    values = [each.value for given in scope.definitions.values() for each in given]
    for value in [*values, *scope.losses, *(each.value for each in scope.results)]:
        yield from (name for node in ast.walk(value) if (name := name_of(node)))
