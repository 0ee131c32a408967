"""This file is the places of cuts: the user's lines that take a model's result out of the graph."""

import inspect
import linecache
from collections.abc import Collection, Iterable, Sequence
from types import CodeType

from torch import nn

from torchmagic.analyses.cuts import Cut, cuts_above, cuts_through, cuts_within
from torchmagic.analyses.hook_cuts import LAMBDA, cuts_kept, lambda_at
from torchmagic.analyses.scopes import Scope, name_of, scopes
from torchmagic.probes.hook_codes import all_hooks_of
from torchmagic.probes.module_parts import modules_of
from torchmagic.probes.names import Names
from torchmagic.probes.sites import Site, is_users_file, source_of
from torchmagic.records.place import Place

# Files and cells that are read.
MOST_FILES = 32


class Code:
    """Remembers in which files and cells the user's models are defined, so that a line can be found once all is over.

    Args:
        names: The user's names, whose functions are read as well.
    """

    def __init__(self, names: Names) -> None:
        self._names = names
        self._files: dict[str, None] = {}
        self._seen: set[type] = set()

    def learn(self, module: nn.Module) -> None:
        """Take note of the classes that a model is made of."""
        for part in modules_of(module):
            kind = type(part)
            if kind not in self._seen:
                self._seen.add(kind)
                self._add(_code_of(kind))
            for code in all_hooks_of(part):
                self._add(code)

    def learn_line(self, site: Site | None) -> None:
        """Take note of the file or cell of a line."""
        self._add(site.code if site is not None else None)

    def classes(self, module: nn.Module) -> frozenset[str]:
        """Return the names of the user's own classes that a model is made of."""
        kinds = {type(part) for part in modules_of(module)}
        return frozenset(
            kind.__name__ for kind in kinds if (code := _code_of(kind)) is not None and is_users_file(code.co_filename)
        )

    def read(self) -> list[Scope]:
        """Return the scopes of all that is known."""
        for _, function in self._names.functions():
            self._add(getattr(function, "__code__", None))
        return [scope for file in self._files for scope in scopes(source_of(file), file=file)]

    def _add(self, code: CodeType | None) -> None:
        if code is not None and len(self._files) < MOST_FILES and is_users_file(code.co_filename):
            self._files[code.co_filename] = None


def loss_cuts(every: Sequence[Scope], models: frozenset[str]) -> list[Cut]:
    """Return the cuts between models and the tensors on which ``backward`` is called, the nearest to these first."""
    found = [cut for scope in every if scope.losses for cut in cuts_above(scope, scope.losses, every, models)]
    return list(dict.fromkeys(found))


def part_cuts(
    every: Sequence[Scope],
    path: str,
    classes: frozenset[str],
    hooks: Collection[CodeType] = (),
    behind: Collection[CodeType] = (),
) -> tuple[list[Cut], bool]:
    """Return the cuts between one part of a model and what a function returns or ``backward`` is called on.

    And whether they are known to be there: else they are all that the model's classes have.

    Args:
        every: All scopes that are known.
        path: Path of the part; its last name is what code calls it.
        classes: Classes of the model, in whose ``forward`` any cut counts where none names the part.
        hooks: What the user hooked to the part's forward: it may give another result in the place of the part's own.
        behind: What is hooked to other parts of the model, which may get the result of this one.
    """
    replaced = cuts_through(_scopes_of(hooks, every), every)
    if replaced:
        return replaced, True
    name = next((each for each in reversed(path.split(".")) if not each.isdigit()), path)
    found: list[Cut] = []
    for scope in every:
        results = scope.losses or [each.value for each in scope.results]
        found += cuts_above(scope, results, every, frozenset({name}))
    kept = [] if found else [cut for code in hooks for cut in _kept(code, every)]
    if kept:
        return list(dict.fromkeys(kept)), True
    cuts = dict.fromkeys(found or cuts_through(_scopes_of(behind, every), every) or cuts_within(classes, every))
    return sorted(cuts, key=lambda cut: cut.wraps or cut.counts), bool(found)


def before_step(cuts: Sequence[Cut], step: Place | None, steps: Sequence[Place]) -> list[Cut]:
    """Put first the cuts that come before an optimizer's step, and after the step of another one above it.

    A generator's result is rightly taken out of the discriminator's part of the loop, and wrongly out of its own.

    Args:
        cuts: Cuts of one part of a model, which this optimizer trains.
        step: Line of the optimizer's step.
        steps: Lines at which any optimizer steps.
    """
    if step is None:
        return list(cuts)
    above = max((each.line for each in steps if each.file == step.file and each.line < step.line), default=0)
    return sorted(cuts, key=lambda cut: not (cut.file == step.file and above < cut.line <= step.line))


def place_of_cut(cut: Cut | None) -> Place | None:
    """Return a cut as a place, with the text of its line."""
    if cut is None:
        return None
    source = linecache.getline(cut.file, cut.line).strip()
    return Place(file=cut.file, line=cut.line, source=source, function=cut.function or "<module>")


def place_made(every: Iterable[Scope], loss: str, before: Site | None) -> Place | None:
    """Return the last line above a ``backward`` that gives its loss a value."""
    if before is None:
        return None
    file, last = before.code.co_filename, before.line
    lines = [
        each.value.lineno
        for scope in every
        if scope.file == file
        for each in scope.definitions.get(loss, ())
        if each.value.lineno <= last and not name_of(each.value)
    ]
    if not lines:
        return None
    line = max(lines)
    return Place(file=file, line=line, source=linecache.getline(file, line).strip())


def place_given(every: Iterable[Scope], classes: Sequence[str], attribute: str) -> Place | None:
    """Return the first line at which a class gives an attribute its value."""
    for scope in every:
        given = scope.definitions.get(attribute, ()) if scope.owner in classes else ()
        for line in sorted(each.value.lineno for each in given):
            source = linecache.getline(scope.file, line).strip()
            return Place(file=scope.file, line=line, source=source, function=scope.name)
    return None


def place_defined(every: Iterable[Scope], variable: str) -> Place | None:
    """Return the only line at which a variable, and no attribute of a class, gets its value."""
    lines = {
        (scope.file, each.value.lineno)
        for scope in every
        if not scope.owner
        for each in scope.definitions.get(variable, ())
    }
    if len(lines) != 1:
        return None
    file, line = lines.pop()
    return Place(file=file, line=line, source=linecache.getline(file, line).strip())


def _scopes_of(codes: Iterable[CodeType], every: Iterable[Scope]) -> list[Scope]:
    """Return the scopes of functions, be it those without a name."""
    codes = list(codes)
    named = {(code.co_filename, code.co_name) for code in codes}
    found = [each for each in every if (each.file, each.name) in named]
    lambdas = [code for code in codes if code.co_name == LAMBDA]
    unnamed = (lambda_at(source_of(each.co_filename), each.co_filename, each.co_firstlineno) for each in lambdas)
    return [*found, *(each for each in unnamed if each is not None)]


def _kept(code: CodeType, every: Sequence[Scope]) -> list[Cut]:
    """Return the cuts between what a hook is given and what it keeps for others."""
    return [cut for scope in _scopes_of([code], every) for cut in cuts_kept(scope, code.co_varnames, every)]


def _code_of(kind: type[nn.Module]) -> CodeType | None:
    """Return the code of a class's ``forward``; None where it is not written in Python, as in TorchScript."""
    return getattr(inspect.getattr_static(kind, "forward", None), "__code__", None)
