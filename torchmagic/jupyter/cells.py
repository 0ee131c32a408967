"""This file is the cells that are running: each watched run is closed by the end of the very cell that opened it."""

import asyncio
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torchmagic.jupyter.header import quote_as_typed, rewrite
from torchmagic.jupyter.tracebacks import show_users_tracebacks

if TYPE_CHECKING:
    from torchmagic.jupyter.cell_run import CellRun

_EVENTS = ("pre_run_cell", "post_execute", "post_run_cell")


class Cell:
    """A cell while it runs.

    Args:
        shell: The shell that runs it.
        info: IPython's account of it; None for what runs silently, such as the cells of ``%run file.ipy``.
    """

    def __init__(self, shell: Any, info: Any = None) -> None:
        self.shell = shell
        self.info = info
        self.runs: list[CellRun] = []
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
        make_run: Makes a run from the typed options; what is wrong with them is its UsageError.
        make_automatic_run: Makes the run of a cell without a header; None where it is not to be watched.
    """

    def __init__(
        self,
        shell: Any,
        make_run: Callable[[str, Any], "CellRun"],
        make_automatic_run: Callable[[Any], "CellRun | None"],
    ) -> None:
        self.shell = shell
        self._make_run = make_run
        self._make_automatic_run = make_automatic_run
        self._threads = threading.local()

    def install(self) -> None:
        """Follow the shell from now on."""
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
            self._stack.pop().end(None)

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

    def begin(self, options: str) -> None:
        """Open a run for the running cell: what the rewritten header calls."""
        quote_as_typed(options)
        cell = self.innermost
        if cell is None:
            cell = Cell(self.shell)
            self._stack.append(cell)
        run = self._make_run(self.shell.var_expand(options, depth=1), cell.info)
        if not self.is_watched:  # a header stacked twice, repeated by %%timeit or inside a watched cell adds nothing
            cell.watch(run)

    def pre_run_cell(self, info: Any) -> None:
        """A cell begins."""
        cell = Cell(self.shell, info)
        self._stack.append(cell)
        run = None if self._open_runs else self._make_automatic_run(info)
        if run is not None:
            cell.watch(run)

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
        cell = self._ended(result)
        if cell is None:
            return
        error = KeyboardInterrupt() if result is None else result.error_before_exec or result.error_in_exec
        if isinstance(error, asyncio.CancelledError):
            error = KeyboardInterrupt()
        runs = cell.end(error)
        if runs and error is None:
            from torchmagic.jupyter.verdict import fail_cell, verdict  # noqa: PLC0415 - what runs need loads with them

            failure = verdict(runs)
            if failure is not None:
                fail_cell(self.shell, result, failure)

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
