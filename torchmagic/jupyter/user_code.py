"""This file is user code that a magic runs itself, as a cell would run: magics, ``!sh`` and the last value included."""

import ast
from typing import Any

from torchmagic.analyses.syntax import steadily


class UserCode:
    """Source that was read and is ready to run.

    Args:
        shell: The shell in whose namespace it runs.
        source: What was typed.
        num_lines_above: Lines of its cell that stand above it: line numbers are those of the cell.

    Attributes:
        file: The name that it goes by in tracebacks.
        tree: As Python runs it.

    Raises:
        SyntaxError: If Python cannot read it.
    """

    def __init__(self, shell: Any, source: str, *, num_lines_above: int = 0) -> None:
        self._shell = shell
        python = "\n" * num_lines_above + shell.transform_cell(source)
        self.file = shell.compile.cache(python, shell.execution_count, raw_code=source)
        self.tree: Any = shell.transform_ast(steadily(lambda: shell.compile.ast_parse(python, filename=self.file)))

    def run(self) -> Any:
        """Run it; return the value of its last expression, or None."""
        if not self.tree.body:  # blank lines and comments
            return None
        *body, last = self.tree.body
        if not isinstance(last, ast.Expr):
            body, last = [*body, last], None
        names = self._shell.user_global_ns, self._shell.user_ns
        exec(self._shell.compile(ast.Module(body, []), self.file, "exec"), *names)  # noqa: S102 - the user's own code
        if last is None:
            return None
        return eval(self._shell.compile(ast.Expression(last.value), self.file, "eval"), *names)  # noqa: S307 - likewise
