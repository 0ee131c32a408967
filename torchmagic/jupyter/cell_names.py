"""This file is the names of cells: what a person calls the files that a shell makes of them."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torchmagic.probes.taps import Taps
    from torchmagic.session.recorder import Recorder


THIS = "this cell"


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
    return {file: THIS if each >= number else f"cell {each}" for file, each in _numbers(shell).items()}


class FileNames:
    """Calls the cells whose texts a run keeps by the numbers that they have in the notebook.

    Args:
        names: Tells, at the end, what to call files.
    """

    def __init__(self, names: Callable[[], Mapping[str, str]]) -> None:
        self._names = names
        self._recorder: Recorder | None = None

    def attach(self, _taps: "Taps", recorder: "Recorder") -> None:
        """Listen for nothing."""
        self._recorder = recorder

    def flush(self, step: int) -> None:
        """Do nothing at the end of a step."""

    def detach(self) -> None:
        """Say what to call them; of all probes the last."""
        recorder, self._recorder = self._recorder, None
        if recorder is not None:
            recorder.name_files({file: name for file, name in self._names().items() if name != THIS})


def _numbers(shell: Any) -> Mapping[str, int]:
    # IPython names cells in tracebacks by this table, and offers no public way to it.
    return getattr(shell.compile, "_filename_map", {})
