"""This file reads the names of a frame of the user's, once its step is sick and only then.

Up to Python 3.12 the dictionary of a function's names is kept in its frame, and is the one that ``locals()`` answers.
It is therefore not read where the function calls ``locals`` or a like function, and emptied when it was read, so that
nothing is kept alive by it. At top level the names are the notebook's own.
"""

import inspect
import sys
from types import FrameType
from typing import Any

# Functions through which a function's code gets hold of that dictionary.
READERS = frozenset({"locals", "vars", "dir", "eval", "exec", "_getframe", "currentframe", "breakpoint"})
PROXIES_SINCE = (3, 13)


def names_of(frame: FrameType) -> dict[str, Any] | None:
    """Return all names that code in a frame sees; None where they cannot be read without a trace."""
    names = dict(frame.f_globals)
    if not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        return names
    if sys.version_info >= PROXIES_SINCE:
        return {**names, **frame.f_locals}
    if READERS & set(frame.f_code.co_names):
        return None
    kept = frame.f_locals
    names.update(kept)
    kept.clear()
    return names
