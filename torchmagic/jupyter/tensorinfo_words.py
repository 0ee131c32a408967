"""This file is the line of ``%tensorinfo``: its options, their completion, and how it is read."""

import re
from dataclasses import dataclass

from IPython.core.error import UsageError

from torchmagic.jupyter.flags import read_flag, starting_with

MAGIC = "tensorinfo"
_FLAGS = ("--compare", "--hist", "--image", "--full", "--dims")
_WITH_VALUE = ("--compare", "--dims")
_OPTION = re.compile(r"\s(?=--[a-zA-Z])")
USAGE = (
    "usage: %tensorinfo EXPRESSION [--compare OTHER] [--hist] [--image] [--full] [--dims N C H W], where the "
    "expression gives a tensor, for instance %tensorinfo model.weight.grad"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was asked for; expressions as typed."""

    expression: str
    compare: str = ""
    hist: bool = False
    image: bool = False
    full: bool = False
    dims: tuple[str, ...] = ()


def parse(line: str) -> Request:
    """Read a line.

    Args:
        line: What was typed behind the magic's name.

    Raises:
        UsageError: If there is no expression, or an option is wrong; one line that names the nearest right one.
    """
    first, *options = _OPTION.split(f" {line.strip().removesuffix(';').rstrip()}")
    if not first.strip():
        raise UsageError(f"%{MAGIC}: {options[0]!r} came where a tensor was wanted; {USAGE}" if options else USAGE)
    values: dict[str, str] = {}
    for option in options:
        flag, value = _flag(option)
        if flag in values:
            raise UsageError(f"%{MAGIC}: {flag} came twice")
        values[flag] = value
    return Request(
        expression=first.strip(),
        compare=values.get("--compare", ""),
        hist="--hist" in values,
        image="--image" in values,
        full="--full" in values,
        dims=tuple(values.get("--dims", "").replace(",", " ").split()),
    )


def tensorinfo_candidates(typed: str) -> list[str]:
    """Return the words that may stand at the end of what is typed behind the magic's name."""
    return starting_with(typed.rpartition(" ")[2], _FLAGS)


def _flag(option: str) -> tuple[str, str]:
    flag, value = read_flag(option, magic=MAGIC, flags=_FLAGS)
    if flag in _WITH_VALUE and not value:
        raise UsageError(f"%{MAGIC}: {flag} needs a value; {USAGE}")
    if flag not in _WITH_VALUE and value:
        raise UsageError(f"%{MAGIC}: {flag} takes no value, {value!r} came; put the expression first")
    return flag, value
