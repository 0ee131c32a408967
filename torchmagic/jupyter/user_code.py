"""This file is user code that a magic runs itself, as a cell would run: magics, ``!sh`` and the last value included."""

import ast
from typing import Any


class UserCode:
    """Source that was read and is ready to run.

    Args:
        shell: The shell in whose namespace it runs.
        source: What was typed.

    Raises:
        SyntaxError: If Python cannot read it.
    """

    def __init__(self, shell: Any, source: str) -> None:
        self._shell = shell
        python = shell.transform_cell(source)
        self._name = shell.compile.cache(python, shell.execution_count, raw_code=source)
        self._tree = shell.transform_ast(shell.compile.ast_parse(python, filename=self._name))

    def run(self) -> Any:
        """Run it; return the value of its last expression, or None."""
        *body, last = self._tree.body or [ast.Pass()]
        if not isinstance(last, ast.Expr):
            body, last = [*body, last], None
        names = self._shell.user_global_ns, self._shell.user_ns
        exec(self._shell.compile(ast.Module(body, []), self._name, "exec"), *names)  # noqa: S102 - the user's own code
        if last is None:
            return None
        return eval(self._shell.compile(ast.Expression(last.value), self._name, "eval"), *names)  # noqa: S307 - likewise
