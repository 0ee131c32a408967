"""This file is the code of one file with ranges, as counterparts of the code objects that its functions have."""

import __future__

import ast
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import CodeType

from torchmagic.analyses.syntax import steadily
from torchmagic.probes.notebook_text import CELLS
from torchmagic.profiling.instrument import DEPTHS, range_functions
from torchmagic.session.ignored_warnings import ignored_warnings

# Stands for a range among a code object's constants, followed by line and function; no source has such a string.
_PLACEHOLDER = "\0torchmagic range"
FUTURES = 0
for _name in __future__.all_feature_names:
    FUTURES |= getattr(__future__, _name).compiler_flag
_SAME = (
    *("co_name", "co_qualname", "co_firstlineno", "co_flags", "co_argcount", "co_posonlyargcount", "co_kwonlyargcount"),
    *("co_names", "co_varnames", "co_freevars", "co_cellvars", "co_code", "co_linetable", "co_exceptiontable"),
)

# The range of a line, given its number and the name of the function around it.
RangeOf = Callable[[int, str], AbstractContextManager[object]]
_Key = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class RangedFile:
    """A file, compiled as it is and with ranges.

    Args:
        native: Code objects of its functions as they are, by qualified name and first line.
        ranged: The same with placeholders for ranges, in the same order.
    """

    native: dict[_Key, list[CodeType]]
    ranged: dict[_Key, list[CodeType]]

    def counterpart(self, code: CodeType, range_of: RangeOf) -> CodeType | None:
        """Return what a function may have in place of its code; None where that is not what the source says.

        Args:
            code: What it has now.
            range_of: Gives the range of each line.
        """
        natives, rangeds = self.native.get(_key(code), []), self.ranged.get(_key(code), [])
        if len(natives) != len(rangeds):
            return None
        for native, ranged in zip(natives, rangeds, strict=True):
            if is_same_code(native, code):
                return _filled(ranged, code, range_of)
        return None


def ranged_file(source: str, code: CodeType) -> RangedFile | None:
    """Compile a file with and without ranges; None where that cannot be done.

    Args:
        source: Its text.
        code: The code of one of its functions, which tells how it was compiled.
    """
    flags = code.co_flags & FUTURES
    # What a cell may have besides, and does not change its functions.
    flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    try:
        with ignored_warnings():  # the source was compiled before, and said what it had to say
            native = _compiled(_parsed(source, flags), code.co_filename, flags)
            for deepest in DEPTHS:
                tree = _parsed(source, flags)
                range_functions(tree, _placeholder, deepest=deepest)
                try:
                    ranged = _compiled(tree, code.co_filename, flags)
                except SyntaxError:  # too many blocks within each other
                    continue
                return RangedFile(native=_by_key(native), ranged=_by_key(ranged))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    return None


def nested_codes(code: CodeType) -> list[CodeType]:
    """Return the code objects among a code object's constants."""
    return [each for each in code.co_consts if isinstance(each, CodeType)]


def is_same_code(one: CodeType, other: CodeType) -> bool:
    """Whether two code objects are of the same source; what the interpreter has learnt about one does not count."""
    return (
        all(getattr(one, name) == getattr(other, name) for name in _SAME)
        and len(one.co_consts) == len(other.co_consts)
        and all(_is_same(mine, yours) for mine, yours in zip(one.co_consts, other.co_consts, strict=True))
    )


def _is_same(one: object, other: object) -> bool:
    if isinstance(one, CodeType) and isinstance(other, CodeType):
        return is_same_code(one, other)
    if type(one) is not type(other):
        return False
    return one == other if isinstance(one, frozenset) else repr(one) == repr(other)  # 0.0 is not -0.0, nor 1 True


def _parsed(source: str, flags: int) -> ast.Module:
    flags |= ast.PyCF_ONLY_AST
    tree = steadily(lambda: compile(source, "<source>", "exec", flags, dont_inherit=True))
    assert isinstance(tree, ast.Module)  # noqa: S101 - what "exec" gives
    return tree


def _compiled(tree: ast.Module, file: str, flags: int) -> list[CodeType]:
    """Compile a file; a cell's statements one by one as well.

    IPython does so, and the code of a call is another where the name comes from an import that is compiled with it.
    """
    apart = [ast.Module([statement], []) for statement in tree.body] if any(each in file for each in CELLS) else []
    codes = [compile(each, file, "exec", flags, dont_inherit=True) for each in (tree, *apart)]
    return [code for code in codes if isinstance(code, CodeType)]  # of trees, with these flags, they all are


def _placeholder(line: int, function: str) -> ast.expr:
    return ast.Constant(f"{_PLACEHOLDER}\0{line}\0{function}")


def _by_key(modules: list[CodeType]) -> dict[_Key, list[CodeType]]:
    """Return all code objects of modules, in the order of the source where their keys are the same."""
    found: dict[_Key, list[CodeType]] = {}
    todo = [*modules]
    while todo:
        code = todo.pop(0)
        found.setdefault(_key(code), []).append(code)
        todo += nested_codes(code)
    return found


def _key(code: CodeType) -> _Key:
    return code.co_qualname, code.co_firstlineno


def _filled(ranged: CodeType, native: CodeType, range_of: RangeOf) -> CodeType | None:
    """Return code with ranges in place of placeholders; the native code itself where it has none; None if unlike it."""
    if is_same_code(ranged, native):
        return native
    natives = iter(nested_codes(native))
    if len(nested_codes(ranged)) != len(nested_codes(native)) or ranged.co_freevars != native.co_freevars:
        return None
    constants: list[object] = []
    for each in ranged.co_consts:
        if isinstance(each, str) and each.startswith(_PLACEHOLDER):
            line, function = each.removeprefix(_PLACEHOLDER + "\0").split("\0")
            constants.append(range_of(int(line), function))
        elif isinstance(each, CodeType):
            inside = next(natives)
            filled = _filled(each, inside, range_of) if _key(each) == _key(inside) else None
            if filled is None:
                return None
            constants.append(filled)
        else:
            constants.append(each)
    return ranged.replace(co_consts=tuple(constants))
