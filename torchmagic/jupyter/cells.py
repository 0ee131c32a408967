"""This file is the cells that are running: each watched run is closed by the end of the very cell that opened it."""

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from torchmagic.jupyter.asked import Asked
from torchmagic.jupyter.cell_magics import CellMagic
from torchmagic.jupyter.header import quote_as_typed, rewrite
from torchmagic.jupyter.making import RunMaker
from torchmagic.jupyter.tracebacks import show_users_tracebacks
from torchmagic.jupyter.wall import tell_once
from torchmagic.session.interrupts import Postponed

if TYPE_CHECKING:
    from torchmagic.jupyter.cell_run import CellRun
    from torchmagic.profiling.lines import Lines

_EVENTS = ("pre_run_cell", "post_execute", "post_run_cell")


class Cell:
    """A cell while it runs.

    Args:
        shell: The shell that runs it.
        info: IPython's account of it; None for what runs silently, such as the cells of ``%run file.ipy``.

    Attributes:
        runs: Its open runs.
        waiting: What the headers so far ask for; the last one opens the run.
        lines: The ranges that its syntax tree got, until a profile takes them.
        at_end: Called once, when it has ended and its runs are closed.
        error: What it was ended by, as far as IPython has shown it.
    """

    def __init__(self, shell: Any, info: Any = None) -> None:
        self.shell = shell
        self.info = info
        self.runs: list[CellRun] = []
        self.waiting: list[Asked] = []
        self.lines: Lines | None = None
        self.at_end: list[Callable[[], None]] = []
        self.error: BaseException | None = None
        self._restore: Callable[[], None] | None = None

    def watch(self, run: "CellRun") -> None:
        """Open a run that ends with this cell."""
        if self._restore is None:
            self._restore = show_users_tracebacks(self.shell, self._remember)
        self.runs.append(run)
        run.open()

    def drop(self) -> None:
        """Close every run of this cell and show none."""
        for run in self.runs:
            run.close(None)
        self.runs.clear()

    def end(self, error: BaseException | None) -> "list[CellRun]":
        """Close and show every run of this cell; return them."""
        runs = self.runs[::-1]
        self.runs = []
        try:
            for run in runs:
                run.close(error)
        finally:
            if self._restore is not None:
                self._restore()
            while self.at_end:
                self.at_end.pop()()
        for run in runs:
            run.show()
        return runs

    def _remember(self, error: BaseException) -> None:
        self.error = error
        for run in self.runs:
            run.explain(error)


class Cells:
    """Follows the cells of one shell; each thread has cells of its own.

    Args:
        shell: The shell.
        make_run: Makes a run of what the headers of a cell ask for.
    """

    def __init__(self, shell: Any, make_run: RunMaker) -> None:
        self.shell = shell
        self.make_run = make_run
        self._readers: Mapping[CellMagic, Callable[[str], Asked]] = {}
        self._ask_for_all: Callable[[Any], Asked | None] = lambda _info: None
        self._threads = threading.local()

    def install(
        self, readers: Mapping[CellMagic, Callable[[str], Asked]], ask_for_all: Callable[[Any], Asked | None]
    ) -> None:
        """Follow the shell from now on.

        Args:
            readers: Read the typed options of each magic; what is wrong with them is their UsageError.
            ask_for_all: Asks for the watching of a cell without a header, given IPython's account of it, or does not.
        """
        self._readers, self._ask_for_all = readers, ask_for_all
        self.shell.input_transformers_cleanup.append(rewrite)
        for event in _EVENTS:
            self.shell.events.register(event, getattr(self, event))

    def uninstall(self) -> None:
        """Follow it no more; what is open on this thread is closed. Safe to call twice."""
        while rewrite in self.shell.input_transformers_cleanup:
            self.shell.input_transformers_cleanup.remove(rewrite)
        for event in _EVENTS:
            if getattr(self, event) in self.shell.events.callbacks[event]:
                self.shell.events.unregister(event, getattr(self, event))
        while self._stack:
            cell = self._stack.pop()
            later, cell.at_end = cell.at_end, []
            cell.end(None)
            self._once_ended(later)

    def _once_ended(self, deeds: Sequence[Callable[[], None]]) -> None:
        """Do what a cell needs no more once it has ended: the code that it was rewritten to may still run."""

        def once(_result: Any) -> None:
            self.shell.events.unregister("post_run_cell", once)
            for deed in deeds:
                deed()

        if deeds:
            self.shell.events.register("post_run_cell", once)

    @property
    def innermost(self) -> Cell | None:
        """The cell that this thread is running, or None."""
        return self._stack[-1] if self._stack else None

    @property
    def is_watched(self) -> bool:
        """Whether what this thread is running was asked to be watched; a run that nobody asked for makes room."""
        if any(not run.automatic for run in self._open_runs):
            return True
        for cell in self._stack:
            cell.drop()
        return False

    def begin(self, magic: CellMagic, options: str, *, more: bool = False) -> None:
        """Open a run for the running cell: what the rewritten header calls.

        Args:
            magic: Whose header it is.
            options: What was typed on it.
            more: Whether another header of ours is right below; the last of them opens the one run of all.
        """
        quote_as_typed(magic, options)
        cell = self.innermost
        if cell is None:
            cell = Cell(self.shell)
            self._stack.append(cell)
        cell.waiting.append(self._readers[magic](self.shell.var_expand(options, depth=1)))
        if more:
            return
        asked, cell.waiting = cell.waiting, []
        if not self.is_watched:  # a header repeated by %%timeit or inside a watched cell adds nothing
            cell.watch(self.make_run(asked, cell.info))
        elif not self._covered(asked):
            tell_once(f"the cell is watched already; put %%{magic.name} right below the other header to have both")

    def _covered(self, asked: Sequence[Asked]) -> bool:
        """Whether what is asked for is being done already."""
        done = {each.magic for run in self._open_runs for each in run.asked.asked}
        return {each.magic for each in asked} <= done

    def pre_run_cell(self, info: Any) -> None:
        """A cell begins."""
        cell = Cell(self.shell, info)
        self._stack.append(cell)
        asked = None if self._open_runs else self._ask_for_all(info)
        if asked is not None:
            cell.watch(self.make_run([asked], info, automatic=True))

    def post_execute(self) -> None:
        """Something has run; only what ran silently ends here, a cell has an event of its own."""
        if self._stack and self._stack[-1].info is None:
            cell = self._stack.pop()
            cell.end(cell.error)

    def post_run_cell(self, result: Any) -> None:
        """A cell has ended: close what it opened, show it, and fail the cell where that was asked for.

        Args:
            result: IPython's account of the end; None when an ``await`` at the top level was interrupted.
        """
        with Postponed(interrupts=False) if self._open_runs else nullcontext():  # halfway it would leave torch hooked
            runs, error = self._end(result)
        if runs and error is None:
            from torchmagic.jupyter.verdict import fail_cell, verdict  # noqa: PLC0415 - what runs need loads with them

            failure = verdict(runs)
            if failure is not None:
                fail_cell(self.shell, result, failure)

    def _end(self, result: Any) -> "tuple[list[CellRun], BaseException | None]":
        """Close and show what a cell opened; return it, and what the cell was ended by."""
        cell = self._ended(result)
        if cell is None:
            return [], None
        error = KeyboardInterrupt() if result is None else result.error_before_exec or result.error_in_exec
        if isinstance(error, asyncio.CancelledError):
            error = KeyboardInterrupt()
        return cell.end(error), error

    @property
    def _open_runs(self) -> "list[CellRun]":
        return [run for cell in self._stack for run in cell.runs if run.is_open]

    @property
    def _stack(self) -> list[Cell]:
        stack: list[Cell] = self._threads.__dict__.setdefault("stack", [])
        return stack

    def _ended(self, result: Any) -> Cell | None:
        """Pop the cell that a result belongs to, and what it left open inside."""
        stack = self._stack
        if result is None:
            return stack.pop() if stack else None
        for index in range(len(stack) - 1, -1, -1):
            info = stack[index].info
            # An interrupted runner makes a new info; an empty cell ends without having begun.
            if info is not None and (info is result.info or info.raw_cell == result.info.raw_cell):
                inside = stack[index + 1 :]
                del stack[index + 1 :]
                for cell in reversed(inside):
                    cell.end(cell.error)
                return stack.pop()
        return None
