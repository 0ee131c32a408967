"""This file is the functions that run with ranges for a while: each gets another code object, and its own back."""

import gc
import linecache
import weakref
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from functools import partial
from types import CodeType, FunctionType

from torchmagic.probes.sites import source_of
from torchmagic.profiling.ranged_code import FUTURES, RangedFile, nested_codes, ranged_file

# Lines of source that are compiled at most, some 0.1 ms each.
MOST_LINES = 10_000
_FileKey = tuple[str, int]


class RangedFunctions:
    """Gives functions code with ranges.

    Args:
        range_of: Gives the range of a line, from its file, its number and the name of the function around it.

    Attributes:
        left_out: Files whose functions were left alone, as there is too much source.
    """

    def __init__(self, range_of: Callable[[str, int, str], AbstractContextManager[object]]) -> None:
        self.left_out: set[str] = set()
        self._range_of = range_of
        self._num_lines = 0
        self._files: dict[_FileKey, RangedFile | None] = {}
        # Both by the id of a code object, which each entry keeps alive; hashing code would hash all its instructions.
        self._ranged: dict[int, tuple[CodeType, CodeType | None]] = {}
        self._native: dict[int, tuple[CodeType, CodeType]] = {}
        self._changed: list[weakref.ref[FunctionType]] = []

    def change(self, functions: Iterable[FunctionType]) -> None:
        """Give functions code with ranges; those whose source is not what they run are left alone."""
        for function in functions:
            code = function.__code__
            if id(code) not in self._native:
                ranged = self._counterpart(code)
                if ranged is not None and ranged is not code:
                    function.__code__ = ranged
                    self._changed.append(weakref.ref(function))

    def restore(self) -> None:
        """Give every function its own code back, also those that were made meanwhile by another; safe to call twice."""
        if not self._native:
            return
        for function in [each() for each in self._changed]:
            if function is not None:
                self._give_back(function)
        self._changed.clear()
        # Types are compared, and no attribute is asked for: a stranger's object may answer in its own way.
        for each in gc.get_objects():
            if type(each) is FunctionType:
                self._give_back(each)

    def _give_back(self, function: FunctionType) -> None:
        entry = self._native.get(id(function.__code__))
        if entry is not None:
            function.__code__ = entry[1]

    def _counterpart(self, code: CodeType) -> CodeType | None:
        if id(code) not in self._ranged:
            file = self._file(code)
            ranged = file.counterpart(code, partial(self._range_of, code.co_filename)) if file is not None else None
            self._ranged[id(code)] = code, ranged
            if ranged is not None:
                self._remember(ranged, code)
        return self._ranged[id(code)][1]

    def _remember(self, ranged: CodeType, native: CodeType) -> None:
        """Remember which code a function is to have in the end; those that it makes, too."""
        if ranged is native:
            return
        self._native[id(ranged)] = ranged, native
        self._ranged[id(native)] = native, ranged
        for mine, theirs in zip(nested_codes(ranged), nested_codes(native), strict=True):
            self._remember(mine, theirs)

    def _file(self, code: CodeType) -> RangedFile | None:
        file = code.co_filename
        key = file, code.co_flags & FUTURES
        if key not in self._files:
            linecache.checkcache(file)
            source = source_of(file)
            self._num_lines += source.count("\n")
            if self._num_lines > MOST_LINES:
                self.left_out.add(file)
            is_readable = bool(source) and self._num_lines <= MOST_LINES
            self._files[key] = ranged_file(source, code) if is_readable else None
        return self._files[key]
