"""This file is the parser of a cell magic's line: options by their table, or one clear line about what is wrong."""

import shlex
from collections.abc import Mapping
from difflib import get_close_matches
from io import StringIO
from typing import Any

from IPython.core.error import UsageError

from torchmagic.jupyter.cell_magics import EXPLAIN, HELP, CellMagic
from torchmagic.jupyter.option import Option


def answer(magic: CellMagic, question: str) -> str:
    """Return what to print for a question: the help, or the page of a rule.

    Raises:
        UsageError: If there is no such rule.
    """
    words = question.split()
    if EXPLAIN not in words:
        return magic.help_text()
    from torchmagic.rules.names import explanation  # noqa: PLC0415 - loading the extension is to cost next to nothing

    try:
        return explanation(" ".join(words[words.index(EXPLAIN) + 1 :]))
    except ValueError as error:
        raise UsageError(f"%{magic.name} {EXPLAIN}: {error}") from None


def parse(magic: CellMagic, line: str, defaults: Mapping[str, Any]) -> tuple[Any, str]:
    """Read options from the front of a line.

    Args:
        magic: Whose line it is.
        line: What was typed behind the magic's name.
        defaults: Values of settings that were not typed.

    Returns:
        The magic's settings, and what follows the options, as it was typed.

    Raises:
        UsageError: If an option or its value is wrong; one line that names the nearest right one.
    """
    try:
        given, rest = _options(magic, line)
        return magic.settings(defaults, given), rest
    except (ValueError, TypeError) as error:
        raise UsageError(f"%%{magic.name}: {error}") from None


def no_statement(magic: CellMagic, got: str) -> str:
    """Return what to say to a header that holds more than options."""
    nearest = get_close_matches(f"--{got.split(maxsplit=1)[0]}", magic.flags, n=1)
    hint = f"did you mean {nearest[0]}?" if nearest else f"%%{magic.name} {HELP} lists them"
    return f"%%{magic.name} takes only options on its line, got {got!r}; {hint}"


def _options(magic: CellMagic, line: str) -> tuple[dict[str, Any], str]:
    """Return the values of the options in front, by field, and what follows them."""
    given: dict[str, Any] = {}
    word, rest = _first_word(line)
    while word.startswith("-"):
        flag, has_value, value = word.partition("=")
        option = _option(magic, flag)
        if not option.metavar and has_value:
            raise ValueError(f"{flag} takes no value, got {value!r}")
        if option.metavar and not has_value:
            value, rest = _first_word(rest, is_value=True)
        given[option.field] = _value(option, value)
        line = rest
        word, rest = _first_word(line)
    return given, line.strip()


def _first_word(line: str, *, is_value: bool = False) -> tuple[str, str]:
    """Split off one word, quoted as in a shell, and leave the rest untouched."""
    characters = StringIO(line)
    lexer = shlex.shlex(characters, posix=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        word = lexer.get_token()
    except ValueError as error:
        if not is_value and not line.lstrip().startswith("-"):  # a statement's quotes are Python's matter
            return line.lstrip(), ""
        raise ValueError(f"{str(error).lower()} in {line.strip()!r}") from None
    return word or "", line[characters.tell() :]


def _option(magic: CellMagic, flag: str) -> Option:
    option = magic.option(flag)
    if option is None:
        nearest = get_close_matches(flag, magic.flags, n=1)
        hint = f"did you mean {nearest[0]}?" if nearest else f"%%{magic.name} {HELP} lists all"
        raise ValueError(f"there is no option {flag!r}; {hint}")
    return option


def _value(option: Option, word: str) -> Any:
    if not option.metavar:
        return option.fixed
    if not word or word.startswith("--"):
        got = f"got {word!r}" if word else "got nothing"
        raise ValueError(f"{option.flag} wants {_wanted(option)}, {got}")
    parts = word.replace(",", " ").split() if option.many else [word]
    for part in parts:
        if option.choices and part not in option.choices:
            nearest = get_close_matches(part, option.choices, n=1)
            hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
            raise ValueError(f"{option.flag} wants {_wanted(option)}, got {part!r}{hint}")
    try:
        return tuple(parts) if option.many else option.read(word)
    except ValueError as error:
        raise ValueError(f"{option.flag} {error}") from None


def _wanted(option: Option) -> str:
    if option.choices:
        return f"{'some' if option.many else 'one'} of {', '.join(option.choices)}"
    return option.metavar
