"""This file is the lines: a range around each statement of the user's, for as long as it is profiled.

Functions get other code, whose ranges are constants of theirs: no name is looked up, and what should outlive the
profile does no harm. The top level of a cell, which runs once, is rewritten before it is compiled.
"""

import ast
import linecache
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from torchmagic.profiling.cell_flow import CellFlow
from torchmagic.profiling.collected import LINE
from torchmagic.profiling.files_in_play import cells_in_play, files_in_play, is_local_file
from torchmagic.profiling.live_functions import Living, living, young
from torchmagic.profiling.ranged_functions import RangedFunctions
from torchmagic.profiling.untimed import Spared, following
from torchmagic.records.place import Place

_Range = AbstractContextManager[object]


class Lines:
    """Ranges around the user's statements; what the code does stays the same.

    Args:
        make_range: Makes a range of its name, ``tm:l:`` and an index into ``places``. May be set until ``begin``.

    Attributes:
        places: The lines that have ranges.
        notes: What a reader has to know, one sentence each.
    """

    def __init__(self, *, make_range: Callable[[str], _Range] | None = None) -> None:
        self.make_range = make_range or _no_range
        self.places: list[Place] = []
        self.notes: list[str] = []
        self._numbers: dict[tuple[str, int, str], int] = {}
        self._ranges: list[_Range] = []
        self._functions = RangedFunctions(lambda *line: self._ranges[self._number(*line)])
        self._flow: CellFlow | None = None
        self._namespace: Mapping[str, Any] = {}
        self._files: set[str] = set()
        self._modules: set[str] = set()
        self._spared = Spared()
        self._reason = ""  # why functions stay as they are
        self._is_open = False

    def transform(self, tree: ast.Module, file: str = "", *, begin: int = 0, keep_last: bool = False) -> ast.Module:
        """Return the tree of a cell with ranges around the statements of its top level; ``forget`` once it has run.

        Args:
            tree: The cell, which may be changed.
            file: Its file; empty where only its own code will know.
            begin: Statements at its beginning that stay as they are: its header.
            keep_last: Whether the last statement stays as it is, too.
        """
        reason = following()
        if reason:
            self._leave_functions(reason)
            return tree
        self._spared.take(tree)
        end = len(tree.body) - keep_last
        self._flow = CellFlow(lambda line: self._number(file, line, "<module>"), ranges=self._ranges, learn=self._learn)
        tree.body[begin:end] = self._flow.rewritten(tree.body[begin:end])
        self._flow.publish()
        return tree

    def begin(self, namespace: Mapping[str, Any]) -> None:
        """Give the user's functions ranges; safe to call twice.

        Args:
            namespace: The user's names.
        """
        if self._is_open:
            return
        self._is_open = True
        self._ranges[:] = [self.make_range(f"{LINE}{index}") for index in range(len(self.places))]
        self._modules, self._namespace = set(sys.modules), namespace
        self._files = files_in_play(namespace)
        if reason := following():
            self._leave_functions(reason)
        else:
            self._change(living(self._files))

    def end(self) -> None:
        """Give every function its own code back; safe to call twice, and again after code of the user's went on."""
        self._is_open = False
        self._functions.restore()

    def forget(self) -> None:
        """Let go of the cell that was transformed, once it has ended; safe to call twice."""
        self.end()
        self._namespace = {}
        if self._flow is not None:
            self._flow.forget()

    def _change(self, alive: Living) -> None:
        if self._reason:
            return
        before, spared = self._spared.names, self._spared
        files = {function.__code__.co_filename for function in alive.functions}
        spared.hear(cells_in_play() - files)
        spared.look({*self._files, *files}, alive.compiled, is_compiled=alive.is_compiled)
        if spared.reason:
            self._leave_functions(spared.reason)
            return
        if spared.names - before:  # some may have ranges by now
            self._functions.restore()
            alive = living(self._files)
        wanted = [function for function in alive.functions if not spared.holds(function)]
        if len(wanted) < len(alive.functions):
            self._note(spared.note)
        self._functions.change(wanted)
        if self._functions.left_out:
            names = ", ".join(sorted(Path(file).name for file in self._functions.left_out))
            self._note(f"there is too much source for all of it to be timed line by line; left out: {names}")

    def _leave_functions(self, reason: str) -> None:
        self._reason = reason
        self._note(reason)
        self._functions.restore()

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)

    def _learn(self, file: str) -> None:
        """Take in what the cell, known by its file, has just defined or imported."""
        try:
            self._settle(file)
            if self._is_open:
                self._change(self._newcomers())
        except Exception as error:  # noqa: BLE001 - called from the user's cell: whatever we did wrong, it is the user's
            self._note(f"not all lines are timed ({type(error).__name__}: {error})")

    def _settle(self, file: str) -> None:
        """Say in which file the lines of the top level are."""
        for index, place in enumerate(self.places):
            if not place.file:
                self.places[index] = replace(place, file=file, source=_line(file, place.line))

    def _newcomers(self) -> Living:
        new = sys.modules.keys() - self._modules
        self._modules |= new
        files = (getattr(sys.modules.get(name), "__file__", None) for name in new)
        if not any(is_local_file(file) for file in files if isinstance(file, str)):
            return young(self._files)
        self._files = files_in_play(self._namespace)
        return living(self._files)

    def _number(self, file: str, line: int, function: str) -> int:
        """Return the number of a line, which has a range from then on."""
        key = file, line, function
        if key not in self._numbers:
            self._numbers[key] = len(self.places)
            self.places.append(Place(file=file, line=line, source=_line(file, line), function=function))
            make = self.make_range if self._is_open else _no_range
            self._ranges.append(make(f"{LINE}{self._numbers[key]}"))
        return self._numbers[key]


def _line(file: str, line: int) -> str:
    return linecache.getline(file, line).strip() if file else ""


def _no_range(_name: str) -> _Range:
    return nullcontext()
