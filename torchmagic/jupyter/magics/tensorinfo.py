"""This file is the ``%tensorinfo`` magic."""

from collections.abc import Mapping
from difflib import get_close_matches
from types import CodeType
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_magic, magics_class, needs_local_scope
from IPython.display import display

_USAGE = (
    "usage: %tensorinfo EXPRESSION, where the expression gives a tensor, for instance %tensorinfo model.weight.grad"
)
# Names the expression in the traceback of the user's own error.
_FILE_NAME = "<%tensorinfo>"
# Longer expressions are cut in the title of the output.
_MAX_NAME = 60


@magics_class
class TensorinfoMagics(Magics):
    """The home of ``%tensorinfo``, to be registered with a shell."""

    @needs_local_scope
    @line_magic
    def tensorinfo(self, line: str, local_ns: dict[str, Any] | None = None) -> None:
        """Show everything about one tensor.

        ::

            %tensorinfo EXPRESSION

        The expression is any Python expression that gives a tensor, a parameter or a NumPy array; it is evaluated
        once. Shown are shape, dtype, device, layout, memory, autograd, statistics, counts of NaN, Inf and zero, a
        histogram, the values (corners of many) and the gradient. Nothing is changed and nothing is kept.

        Statistics are of the finite values. Of complex tensors they are of the magnitudes, of sparse ones of the
        stored values. Quantiles of more than 65,536 values come from a sample, and the output says so.

        Examples::

            %tensorinfo x
            %tensorinfo model.fc.weight.grad
            %tensorinfo batch["image"][0]

        In scripts: ``torchmagic.tensorinfo(x)``.
        """
        expression = line.strip().removesuffix(";").rstrip()
        if expression in ("", "--help", "-h"):
            raise UsageError(_USAGE if not expression else f"{_USAGE}; %tensorinfo? tells more")
        from torchmagic.debuggers.tensorinfo import tensorinfo  # noqa: PLC0415 - torch waits for the first use

        value = _evaluated(_compiled(expression), self.shell, local_ns)
        name = expression if len(expression) <= _MAX_NAME else f"{expression[: _MAX_NAME - 1]}…"
        try:
            info = tensorinfo(value, name=name)
        except TypeError as error:
            raise UsageError(f"%tensorinfo {name}: {error}") from None
        display(info)  # type: ignore[no-untyped-call] # IPython's has no types


def _compiled(expression: str) -> CodeType:
    try:
        return compile(expression, _FILE_NAME, "eval")
    except SyntaxError as error:
        raise UsageError(f"%tensorinfo: {expression!r} is not one Python expression ({error.msg}); {_USAGE}") from None


def _evaluated(code: CodeType, shell: Any, local_ns: dict[str, Any] | None) -> Any:
    """The expression's value; its errors are the user's, except for a name that it uses and nobody defined."""
    names = shell.user_ns if local_ns is None else local_ns
    try:
        with shell.builtin_trap:
            return eval(code, shell.user_global_ns, names)  # noqa: S307 - the user's own code, in the user's namespace
    except NameError as error:
        if not _is_of_expression(error):
            raise
        raise UsageError(_unknown(str(error.name), {**shell.user_global_ns, **names})) from None


def _is_of_expression(error: NameError) -> bool:
    """Whether the expression itself used the unknown name, and not a function that it called."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    return place is not None and place.tb_frame.f_code.co_filename == _FILE_NAME


def _unknown(name: str, known: Mapping[str, Any]) -> str:
    candidates = [other for other in known if not other.startswith("_")]
    nearest = get_close_matches(name, candidates, n=3)
    hint = f"did you mean {' or '.join(nearest)}?" if nearest else "run the cell that defines it first"
    return f"%tensorinfo: there is no variable named {name!r}; {hint}"
