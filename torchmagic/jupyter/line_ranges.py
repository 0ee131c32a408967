"""This file is the line ranges: in a cell to be profiled, IPython's syntax tree gets a range around each statement."""

import ast
from typing import TYPE_CHECKING, Any

from torchmagic.jupyter.cell_magics import CELL_MAGICS, TORCHPROFILE
from torchmagic.jupyter.cells import Cells
from torchmagic.jupyter.wall import wall

if TYPE_CHECKING:
    from torchmagic.profiling.lines import Lines


class LineRanges:
    """One of a shell's ``ast_transformers``, which acts on cells with the header of a profile.

    Args:
        shell: The shell.
        cells: The cells that are running.
    """

    def __init__(self, shell: Any, cells: Cells) -> None:
        self._shell, self._cells = shell, cells

    def install(self) -> None:
        """Rewrite the shell's cells from now on."""
        self._shell.ast_transformers.append(self)

    def uninstall(self) -> None:
        """Rewrite them no more; safe to call twice."""
        self._shell.ast_transformers[:] = [each for each in self._shell.ast_transformers if each is not self]

    def visit(self, tree: ast.Module) -> ast.Module:
        """Return the tree of a cell, with ranges if its header asks for a profile: what IPython calls."""
        begins = [_begun_by(statement) for statement in tree.body]
        num_begins = next((index for index, name in enumerate(begins) if not name), len(begins))
        cell = self._cells.innermost
        if TORCHPROFILE.begin in begins[:num_begins] and cell is not None:
            with wall("time the lines of this cell"):
                from torchmagic.profiling.lines import Lines  # noqa: PLC0415 - torch waits for the first run

                lines = Lines()
                cell.at_end.append(lines.forget)
                tree = lines.transform(tree, begin=num_begins, keep_last=self._shows_assignment(tree))
                cell.lines = lines
        return tree

    def take(self) -> "Lines | None":
        """Return the ranges of the running cell, once, for the profile that its header begins; None if it has none."""
        cell = self._cells.innermost
        if cell is None:
            return None
        lines, cell.lines = cell.lines, None
        return lines

    def _shows_assignment(self, tree: ast.Module) -> bool:
        """Whether the shell shows the value of the last statement, which is no expression."""
        shown = self._shell.ast_node_interactivity == "last_expr_or_assign"
        return shown and isinstance(tree.body[-1], (ast.Assign, ast.AugAssign, ast.AnnAssign))


def _begun_by(statement: ast.stmt) -> str:
    """Return the name of the magic that a statement calls as a rewritten header does; empty for other statements."""
    if not isinstance(statement, ast.Expr):
        return ""
    source = ast.unparse(statement)
    return next(
        (each.begin for each in CELL_MAGICS if source.startswith(f"get_ipython().find_line_magic({each.begin!r})(")), ""
    )
