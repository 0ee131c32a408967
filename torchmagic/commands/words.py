"""This file is what commands say, and what several of them are asked: one line on what is wrong, and which runs."""

import argparse
import sys
from pathlib import Path
from typing import Any, TextIO

from torchmagic.commands.exit_codes import WRONG


def complain(error: BaseException | str) -> int:
    """Say in one line on the terminal what is wrong; return the exit status."""
    said = error.args[0] if isinstance(error, KeyError) and error.args else error
    remark(f"torchmagic: {' '.join(str(said).split())}")
    return WRONG


def remark(text: str) -> None:
    """Write beside the output; where that cannot be written, as into a closed terminal, nothing is changed by it."""
    if sys.stderr is None:  # closed before Python began
        return
    try:
        sys.stderr.write(_held(f"{text}\n", sys.stderr))
        sys.stderr.flush()
    except OSError:
        return


def sentence(told: str) -> str:
    """Return words as the beginning of a sentence; names in them stay as they are."""
    return told[:1].upper() + told[1:]


def add_store(parser: Any) -> None:
    """Let a command be asked about another folder than the present one."""
    told = "the folder in which the runs were"
    parser.add_argument("--store", type=Path, default=Path(), metavar="FOLDER", help=told)


def add_fail_on(parser: Any) -> None:
    """Let a command be told which findings make it fail."""
    told = "exit with 3 at findings from this severity on (error, warning, info) or of these rules; commas between"
    parser.add_argument("--fail-on", type=_fail_on, default="never", metavar="SEVERITY,RULES", help=told)


def say(text: str) -> None:
    """Write to the output, with what its encoding cannot hold written out.

    Raises:
        OSError: If there is no output to write to.
    """
    if sys.stdout is None:  # closed before Python began
        raise OSError("the output is closed")
    sys.stdout.write(_held(f"{text}\n", sys.stdout))


def _held(text: str, stream: TextIO) -> str:
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _fail_on(text: str) -> str:
    from torchmagic.debuggers.settings import Settings  # noqa: PLC0415 - other commands do not need it

    try:
        return Settings(fail_on=text).fail_on
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error).removeprefix("fail_on: ")) from None
