"""This file is what commands say, and what several of them are asked: one line on what is wrong, and which runs."""

import argparse
import sys
from pathlib import Path
from typing import Any

from torchmagic.commands.exit_codes import WRONG


def complain(error: BaseException | str) -> int:
    """Say in one line on the terminal what is wrong; return the exit status."""
    said = error.args[0] if isinstance(error, KeyError) and error.args else error
    sys.stderr.write(f"torchmagic: {' '.join(str(said).split())}\n")
    return WRONG


def add_store(parser: Any) -> None:
    """Let a command be asked about another folder than the present one."""
    told = "the folder in which the runs were"
    parser.add_argument("--store", type=Path, default=Path(), metavar="FOLDER", help=told)


def add_fail_on(parser: Any) -> None:
    """Let a command be told which findings make it fail."""
    told = "exit with 3 at findings from this severity on (error, warning, info) or of these rules; commas between"
    parser.add_argument("--fail-on", type=_fail_on, default="never", metavar="SEVERITY,RULES", help=told)


def say(text: str) -> None:
    """Write to the output, with what its encoding cannot hold written out."""
    stream = sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(f"{text}\n".encode(encoding, "backslashreplace").decode(encoding))


def _fail_on(text: str) -> str:
    from torchmagic.debuggers.settings import Settings  # noqa: PLC0415 - other commands do not need it

    try:
        return Settings(fail_on=text).fail_on
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error).removeprefix("fail_on: ")) from None
