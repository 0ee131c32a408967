"""This file is the line of ``%modelinfo``: its options, their completion, and how it is read."""

import re
from dataclasses import dataclass

from IPython.core.error import UsageError

from torchmagic.jupyter.flags import read_flag, starting_with

MAGIC = "modelinfo"
# What %modelinfo completes for --optimizer; the engine, which knows them, loads torch.
OPTIMIZERS = ("adamw", "adam", "sgd", "sgd-momentum", "rmsprop", "adagrad", "adafactor", "lion", "muon", "lbfgs")
_FLAGS = ("--input-size", "--batch", "--optimizer", "--depth")
# Patterns are compiled when they are used: loading the extension is to cost nothing.
_OPTION = r"\s(?=--?[a-zA-Z])"
_SIZE = r"[\s(\[]*\d+(?:\s*[,x×]\s*\d+)*\s*,?[\s)\]]*"
USAGE = (
    "usage: %modelinfo EXPRESSION [--input-size 1,3,32,32] [--batch NAME] [--optimizer NAME] [--depth N], "
    "for instance %modelinfo model --input-size 1,3,32,32"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was asked for: expressions as typed, sizes as numbers."""

    expression: str
    sizes: tuple[tuple[int, ...], ...] = ()
    batch: str = ""
    optimizer: str = ""
    depth: int | None = None


def parse(line: str) -> Request:
    """Read a line.

    Args:
        line: What was typed behind the magic's name.

    Raises:
        UsageError: If there is no expression, or an option is wrong; one line that names the nearest right one.
    """
    first, *options = re.split(_OPTION, f" {line.strip().removesuffix(';').rstrip()}")
    if not first.strip():
        raise UsageError(f"%{MAGIC}: {options[0]!r} came where a model was wanted; {USAGE}" if options else USAGE)
    sizes: list[tuple[int, ...]] = []
    values: dict[str, str] = {}
    for option in options:
        flag, value = _flag(option)
        if flag == "--input-size":
            sizes += [_size(each) for each in value.split(";")]
        elif flag in values:
            raise UsageError(f"%{MAGIC}: {flag} came twice")
        else:
            values[flag] = value
    return Request(
        expression=first.strip(),
        sizes=tuple(sizes),
        batch=values.get("--batch", ""),
        optimizer=values.get("--optimizer", ""),
        depth=_number(values["--depth"]) if "--depth" in values else None,
    )


def modelinfo_candidates(typed: str) -> list[str]:
    """Return the words that may stand at the end of what is typed behind the magic's name."""
    *before, word = typed.split(" ")
    previous = before[-1] if before else ""
    if previous == "--optimizer":
        return [each for each in OPTIMIZERS if each.startswith(word)]
    if word.startswith("--optimizer="):
        return [f"--optimizer={each}" for each in OPTIMIZERS if each.startswith(word.partition("=")[2])]
    return starting_with(word, _FLAGS)


def _flag(option: str) -> tuple[str, str]:
    flag, value = read_flag(option, magic=MAGIC, flags=_FLAGS)
    if not value:
        raise UsageError(f"%{MAGIC}: {flag} needs a value; {USAGE}")
    return flag, value.strip("'\"")


def _size(text: str) -> tuple[int, ...]:
    if not re.fullmatch(_SIZE, text):
        raise UsageError(f"%{MAGIC}: --input-size needs whole numbers such as 1,3,32,32, {text.strip()!r} came")
    return tuple(int(each) for each in re.findall(r"\d+", text))


def _number(text: str) -> int:
    if not text.isdecimal():
        raise UsageError(f"%{MAGIC}: --depth needs a whole number such as 2, {text!r} came")
    return int(text)
