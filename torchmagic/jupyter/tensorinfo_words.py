"""This file is the line of ``%tensorinfo``: its options, their completion, and how it is read."""

import re
from dataclasses import dataclass
from difflib import get_close_matches

from IPython.core.error import UsageError

MAGIC = "tensorinfo"
HELP = ("--help", "-h")
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


def asks(line: str) -> bool:
    """Whether a line asks for help."""
    return line.split()[-1:] in ([HELP[0]], [HELP[1]])


def tensorinfo_candidates(typed: str) -> list[str]:
    """Return the words that may stand at the end of what is typed behind the magic's name."""
    word = typed.rpartition(" ")[2]
    return [each for each in (*_FLAGS, HELP[0]) if each.startswith(word)] if word.startswith("-") else []


def _flag(option: str) -> tuple[str, str]:
    word, _, rest = option.strip().partition(" ")
    flag, has_value, value = word.partition("=")
    value = (f"{value} {rest}" if has_value else rest).strip()
    if flag not in _FLAGS:
        nearest = get_close_matches(flag, _FLAGS, n=1)
        hint = f"did you mean {nearest[0]}?" if nearest else f"it knows {', '.join(_FLAGS)}"
        raise UsageError(f"%{MAGIC}: there is no option {flag}; {hint}")
    if flag in _WITH_VALUE and not value:
        raise UsageError(f"%{MAGIC}: {flag} needs a value; {USAGE}")
    if flag not in _WITH_VALUE and value:
        raise UsageError(f"%{MAGIC}: {flag} takes no value, {value!r} came; put the expression first")
    return flag, value
