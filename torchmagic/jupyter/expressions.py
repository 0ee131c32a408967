"""This file is an expression of the user's in a magic's line: evaluated once, its errors the user's own."""

from collections.abc import Mapping
from difflib import get_close_matches
from types import CodeType
from typing import Any

from IPython.core.error import UsageError

_LONGEST_NAME = 60


def evaluated(expression: str, *, magic: str, usage: str, shell: Any, names: dict[str, Any] | None) -> Any:
    """Return the value of an expression in the user's namespace.

    Args:
        expression: What was typed.
        magic: The magic's name, without the percent sign; it names the expression in tracebacks.
        usage: Said where the expression is none.
        shell: The user's shell.
        names: The local names where the magic was called in a function.

    Raises:
        UsageError: If it is no expression, or uses a name that nobody defined; one line.
    """
    try:
        code: CodeType = compile(expression, f"<%{magic}>", "eval")
    except SyntaxError as error:
        message = f"%{magic}: {expression!r} is not one Python expression ({error.msg}); {usage}"
        raise UsageError(message) from None
    local = shell.user_ns if names is None else names
    try:
        with shell.builtin_trap:
            return eval(code, shell.user_global_ns, local)  # noqa: S307 - the user's own code, in the user's namespace
    except NameError as error:
        if not _is_of_expression(error, magic):
            raise
        known = {**shell.user_global_ns, **local}
        raise UsageError(_unknown(str(error.name), known, magic)) from None


def shortened(expression: str) -> str:
    """Return an expression as the name of what it gives; a long one is cut."""
    return expression if len(expression) <= _LONGEST_NAME else f"{expression[: _LONGEST_NAME - 1]}…"


def _is_of_expression(error: NameError, magic: str) -> bool:
    """Whether the expression itself used the unknown name, and not a function that it called."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    return place is not None and place.tb_frame.f_code.co_filename == f"<%{magic}>"


def _unknown(name: str, known: Mapping[str, Any], magic: str) -> str:
    nearest = get_close_matches(name, [other for other in known if not other.startswith("_")], n=3)
    hint = f"did you mean {' or '.join(nearest)}?" if nearest else "run the cell that defines it first"
    return f"%{magic}: there is no variable named {name!r}; {hint}"
