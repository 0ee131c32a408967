"""This file is the parser of ``%%torchdebug``'s line: options by their table, or one clear line about what is wrong."""

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import fields
from difflib import get_close_matches
from io import StringIO
from typing import Any

from IPython.core.error import UsageError

from torchmagic.debuggers.settings import Settings
from torchmagic.jupyter.options import BY_FLAG, EXPLAIN, HELP, MAGIC, MODES, Option, help_text


def answer(question: str) -> str:
    """Return what to print for a question: the help, or the page of a rule.

    Raises:
        UsageError: If there is no such rule.
    """
    words = question.split()
    if EXPLAIN not in words:
        return help_text()
    from torchmagic.rules.names import explanation  # noqa: PLC0415 - loading the extension is to cost next to nothing

    try:
        return explanation(" ".join(words[words.index(EXPLAIN) + 1 :]))
    except ValueError as error:
        raise UsageError(f"%{MAGIC} {EXPLAIN}: {error}") from None


def parse(line: str, defaults: Mapping[str, Any]) -> tuple[Settings, str]:
    """Read options from the front of a line.

    Args:
        line: What was typed behind the magic's name.
        defaults: Values of ``Settings`` fields that were not typed: the configuration, with the switches over it.

    Returns:
        The settings, and what follows the options, as it was typed.

    Raises:
        UsageError: If an option or its value is wrong; one line that names the nearest right one.
    """
    given: dict[str, Any] = {}
    word, rest = _first_word(line)
    while word.startswith("-"):
        flag, has_value, value = word.partition("=")
        option = _option(flag)
        if not option.metavar and has_value:
            raise UsageError(f"%%{MAGIC}: {flag} takes no value, got {value!r}")
        if option.metavar and not has_value:
            value, rest = _first_word(rest, is_value=True)
        given[option.field] = _value(option, value)
        line = rest
        word, rest = _first_word(line)
    try:
        settings = Settings(**_chosen(defaults, given))
    except (ValueError, TypeError) as error:
        raise UsageError(f"%%{MAGIC}: {error}") from None
    return settings, line.strip()


def no_statement(got: str) -> str:
    """Return what to say to a header that holds more than options."""
    nearest = get_close_matches(f"--{got.split(maxsplit=1)[0]}", (*BY_FLAG, HELP, EXPLAIN), n=1)
    hint = f"did you mean {nearest[0]}?" if nearest else f"%%{MAGIC} --help lists them"
    return f"%%{MAGIC} takes only options on its line, got {got!r}; {hint}"


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
        raise UsageError(f"%%{MAGIC}: {str(error).lower()} in {line.strip()!r}") from None
    return word or "", line[characters.tell() :]


def _option(flag: str) -> Option:
    if flag not in BY_FLAG:
        nearest = get_close_matches(flag, (*BY_FLAG, HELP, EXPLAIN), n=1)
        hint = f"did you mean {nearest[0]}?" if nearest else f"%%{MAGIC} --help lists all"
        raise UsageError(f"%%{MAGIC}: there is no option {flag!r}; {hint}")
    return BY_FLAG[flag]


def _value(option: Option, word: str) -> Any:
    if not option.metavar:
        return option.fixed
    if not word or word.startswith("--"):
        got = f"got {word!r}" if word else "got nothing"
        raise UsageError(f"%%{MAGIC}: {option.flag} wants {_wanted(option)}, {got}")
    parts = word.replace(",", " ").split() if option.many else [word]
    for part in parts:
        if option.choices and part not in option.choices:
            nearest = get_close_matches(part, option.choices, n=1)
            hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
            raise UsageError(f"%%{MAGIC}: {option.flag} wants {_wanted(option)}, got {part!r}{hint}")
    try:
        return tuple(parts) if option.many else option.read(word)
    except ValueError as error:
        raise UsageError(f"%%{MAGIC}: {option.flag} {error}") from None


def _wanted(option: Option) -> str:
    if option.choices:
        return f"{'some' if option.many else 'one'} of {', '.join(option.choices)}"
    return option.metavar


def _chosen(defaults: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Join what was typed, the mode and the defaults, in this order of weight."""
    asked = {**MODES.get(given.get("mode", ""), {}), **given}
    names = {field.name for field in fields(Settings)}
    under = dict(defaults)
    if "only" in asked:  # these and no others, whatever is switched on or off
        left_out = _names(under.get("without", ()))
        under |= {"also": (), "without": tuple(name for name in left_out if name not in asked["only"])}
    return {name: value for name, value in {**under, **asked}.items() if name in names}


def _names(value: str | Iterable[str]) -> Iterable[str]:
    return value.replace(",", " ").split() if isinstance(value, str) else value
