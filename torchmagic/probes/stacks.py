"""This file is where another thread stands, as text: to hold the frames of a thread that runs crashes Python 3.11."""

import faulthandler
import os
import re
import tempfile
from typing import IO, NamedTuple

_LINE = re.compile(r'  File "(.*)", line (\d+) in (.*)')


class Standing(NamedTuple):
    """A line of code, and the function that it is in."""

    file: str
    line: int
    function: str


def stack_of(ident: int) -> list[Standing]:
    """Return the lines in which a thread of this process stands.

    Args:
        ident: The thread's identity.

    Returns:
        Innermost first, at most 100; empty where there is no such thread, or it runs no Python.
    """
    with _file() as file:
        faulthandler.dump_traceback(file)
        file.seek(0)
        said = file.read().decode("utf-8", "replace")
    found: list[Standing] = []
    for part in re.split(r"^(?=(?:Current thread|Thread) 0x)", said, flags=re.MULTILINE):
        if re.match(rf"(?:Current thread|Thread) 0x0*{ident:x}\b", part):
            found = [Standing(file, int(line), function) for file, line, function in _LINE.findall(part)]
    return found


def _file() -> IO[bytes]:
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("torchmagic"), "w+b")
    return tempfile.TemporaryFile()
