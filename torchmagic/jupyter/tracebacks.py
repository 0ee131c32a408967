"""This file is the user's traceback: what IPython shows, without the frames of the wrappers around torch."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

_OURS = str(Path(__file__).parents[1]) + "/"
# How code is named that stands where a line of the user's or a function of torch's does.
_STANDING_IN = "<torchmagic "
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def remove_our_frames(error: BaseException) -> None:
    """Unlink every traceback entry of torchmagic from an error, its causes, contexts and parts."""
    for each in _chain(error):
        kept = [entry for entry in _entries(each.__traceback__) if not _is_ours(entry)]
        following = None  # which it stays for one that was never raised
        for entry in reversed(kept):
            entry.tb_next = following
            following = entry
        each.__traceback__ = following


@contextmanager
def told(formatter: Any, error: BaseException) -> Iterator[None]:
    """Put our note under an error while it is shown, for an IPython that shows no notes (PEP 678), as 8.12.

    Args:
        formatter: What makes the lines of a traceback: IPython's ``InteractiveTB``.
        error: The error that is shown.
    """
    from torchmagic.debuggers.crash_notes import HEAD  # noqa: PLC0415 - what runs need loads with them

    found = getattr(error, "__notes__", None)  # anything at all may have been set there
    notes = [note for note in map(str, found if isinstance(found, list) else ()) if note.startswith(HEAD)]
    usual = formatter.structured_traceback

    def structured_traceback(*arguments: Any, **options: Any) -> list[str]:
        lines: list[str] = usual(*arguments, **options)
        text = _COLOURS.sub("", "\n".join(lines))
        return [*lines, *(note for note in notes if note.partition("\n")[0] not in text)]

    if not notes or "structured_traceback" in vars(formatter):
        yield
        return
    formatter.structured_traceback = structured_traceback
    try:
        yield
    finally:
        del formatter.structured_traceback


def show_users_tracebacks(shell: Any, on_error: Callable[[BaseException], None]) -> Callable[[], None]:
    """Make a shell show errors as if torch were not wrapped.

    Args:
        shell: The shell.
        on_error: Called with every error before it is shown.

    Returns:
        What gives the shell back the handler it had, unless the user has set a new one meanwhile.
    """
    theirs = shell.custom_exceptions, shell.CustomTB

    def handler(
        shell: Any, kind: type[BaseException], error: BaseException, traceback: TracebackType, tb_offset: Any = None
    ) -> None:
        on_error(error)
        compiling = traceback.tb_frame.f_code.co_name == "run_cell_async"
        remove_our_frames(error)
        exceptions, show = theirs
        if issubclass(kind, exceptions):
            show(kind, error, error.__traceback__, tb_offset)
        elif not compiling:
            with told(shell.InteractiveTB, error):
                shell.showtraceback(running_compiled_code=True)
        elif issubclass(kind, IndentationError):
            shell.showindentationerror()
        else:
            shell.showsyntaxerror()

    shell.set_custom_exc((BaseException,), handler)
    ours = shell.CustomTB

    def restore() -> None:
        if shell.CustomTB is ours:
            shell.custom_exceptions, shell.CustomTB = theirs

    return restore


def _is_ours(entry: TracebackType) -> bool:
    code = entry.tb_frame.f_code
    return code.co_filename.startswith(_OURS) or code.co_name.startswith(_STANDING_IN)


def _entries(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and all that would be shown with it, each once."""
    waiting, seen = [error], set()
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        waiting += [linked for linked in (each.__cause__, each.__context__) if linked is not None]
        waiting += each.exceptions if isinstance(each, BaseExceptionGroup) else ()
