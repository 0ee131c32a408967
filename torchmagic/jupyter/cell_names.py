"""This file is the names of cells: what a person calls the files that a shell makes of them."""

from collections.abc import Mapping
from typing import Any


def newest_cell(shell: Any) -> int:
    """Return the number of the newest cell, the one that is running."""
    return max(_numbers(shell).values(), default=0)


def cell_names(shell: Any, number: int) -> dict[str, str]:
    """Return what to call the files of a shell's cells: ``this cell``, or ``cell 3`` for the one that was In[3].

    A cell that was run again unchanged goes by its newest number.

    Args:
        shell: The shell.
        number: That of the cell which is meant by ``this cell``; what it runs as a cell has numbers from there on.
    """
    return {file: "this cell" if each >= number else f"cell {each}" for file, each in _numbers(shell).items()}


def _numbers(shell: Any) -> Mapping[str, int]:
    # IPython names cells in tracebacks by this table, and offers no public way to it.
    return getattr(shell.compile, "_filename_map", {})
