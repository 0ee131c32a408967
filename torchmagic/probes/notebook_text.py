"""This file is the text of the notebook: its cells one below the other, and each line's way back to its cell."""

import ast
import linecache
import re
from collections.abc import Iterator
from typing import NamedTuple

from torchmagic.analyses.syntax import last_name, tree_of
from torchmagic.probes.sites import source_of
from torchmagic.records.place import Place

# How IPython and its kernel name the files of cells.
CELLS = ("<ipython-input", "ipykernel_")
_NUMBERED = re.compile(r"<ipython-input-(\d+)-")
# The newest cells are read, as far as so many characters go.
MOST_CELLS, MOST_CHARACTERS = 64, 60_000


class Cell(NamedTuple):
    """A cell: its file, as Python calls it, its first line in the text, and how many lines it has."""

    file: str
    first: int
    num_lines: int


class NotebookText(NamedTuple):
    """Cells one after the other, in the order in which they ran."""

    text: str
    cells: tuple[Cell, ...]

    def line_of(self, place: Place) -> int:
        """Return where a place stands in the text; 0 where it does not."""
        return next((cell.first + place.line - 1 for cell in self.cells if cell.file == place.file), 0)

    def place_at(self, line: int | None) -> Place | None:
        """Return a line of the text as the line of its cell."""
        for cell in self.cells:
            if line is not None and cell.first <= line < cell.first + cell.num_lines:
                inside = line - cell.first + 1
                return Place(file=cell.file, line=inside, source=linecache.getline(cell.file, inside).strip())
        return None


def is_cell(file: str) -> bool:
    """Whether a file is a cell of a notebook."""
    return any(part in file for part in CELLS)


def name_of_cell(file: str, *, unnumbered: str) -> str:
    """Return what to call a cell: by its number, where its file tells it; empty for a file that is none."""
    number = _NUMBERED.match(file)
    return f"cell {number[1]}" if number else unnumbered if is_cell(file) else ""


def notebook_text(last: str = "") -> NotebookText:
    """Return the text of the notebook's cells.

    Args:
        last: File of the cell that runs, or of a script; it comes last.
    """
    lines: list[str] = []
    cells = []
    for file in reversed(list(_files(last))):
        read = [line.rstrip("\n") for line in linecache.getlines(file)]
        cells.append(Cell(file, len(lines) + 1, len(read)))
        lines += read
    return NotebookText("\n".join(lines), tuple(cells))


def line_making(name: str, called: str) -> Place | None:
    """Return the newest line in a cell that gives a name the result of a call, such as of ``DataLoader``.

    Args:
        name: A variable, or the last part of ``trainer.loader``.
        called: Name of a class or a function, or the end of it.
    """
    last = name.rpartition(".")[2]
    for file in _newest_cells():
        source = source_of(file)
        if called not in source or last not in source or len(source) > MOST_CHARACTERS:
            continue
        nodes = ast.walk(tree_of(source))
        found = [node.lineno for node in nodes if isinstance(node, ast.Assign) and _gives(node, last, called)]
        if found:
            return Place(file=file, line=found[-1], source=linecache.getline(file, found[-1]).strip())
    return None


def _files(last: str) -> Iterator[str]:
    """Yield the files of cells that are a program, the newest first."""
    left = MOST_CHARACTERS
    for file in [last, *(each for each in _newest_cells() if each != last)]:
        source = source_of(file) if file else ""
        left -= len(source)
        if left < 0:
            return
        if source and tree_of(source).body:
            yield file


def _newest_cells() -> list[str]:
    return [file for file in reversed(list(linecache.cache)) if is_cell(file)][:MOST_CELLS]


def _gives(node: ast.Assign, name: str, called: str) -> bool:
    targets = {last_name(each) for target in node.targets for each in ast.walk(target)}
    return name in targets and any(
        isinstance(each, ast.Call) and last_name(each.func).endswith(called) for each in ast.walk(node.value)
    )
