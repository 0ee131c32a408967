"""This file is the code that a magic runs itself: a statement of a line form, or a cell handed over by a program."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torchmagic.jupyter.asked import Asked
from torchmagic.jupyter.cells import Cell, Cells
from torchmagic.jupyter.tracebacks import remove_our_frames
from torchmagic.jupyter.user_code import UserCode
from torchmagic.jupyter.wall import tell_once

if TYPE_CHECKING:
    from torchmagic.jupyter.cell_run import CellRun


def execute(code: str, cells: Cells, ask: Callable[[], Asked]) -> Any:
    """Run code as the shell would, watched; it is shown when the cell around it has ended.

    Args:
        code: What was typed.
        cells: The cells that are running.
        ask: Asks for a run, once the code could be read.

    Returns:
        The value of its last expression, or None.
    """
    compiled = UserCode(cells.shell, code)
    if cells.is_watched:
        tell_once("the cell is watched already; the statement is part of that run")
        return compiled.run()
    cell = cells.innermost or Cell(cells.shell)
    run = cells.make_run([ask()], cell.info, source=code)
    cell.watch(run)
    try:
        result = compiled.run()
    except BaseException as error:
        remove_our_frames(error)
        _finish(cells, cell, run, error)
        raise
    _finish(cells, cell, run, None)
    return result


def _finish(cells: Cells, cell: Cell, run: "CellRun", error: BaseException | None) -> None:
    """Close a run; show it at once when no cell is running that would show it at its end."""
    run.close(error)
    if cell is cells.innermost:
        return
    from torchmagic.jupyter.verdict import verdict  # noqa: PLC0415 - what runs need loads with them

    failure = verdict(cell.end(error))
    if failure is not None and error is None:
        raise failure
