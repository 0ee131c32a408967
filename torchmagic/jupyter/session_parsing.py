"""This file is the parser of ``%torchsession``'s line: words by their table, or one clear line about what is wrong."""

import shlex
from dataclasses import dataclass, field
from difflib import get_close_matches

from IPython.core.error import UsageError

from torchmagic.jupyter.flags import HELP
from torchmagic.jupyter.session_words import BY_NAME, DEFAULT, MAGIC, Flag, Word


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for: the word, what followed it, and its options."""

    word: Word
    places: tuple[str, ...] = ()
    flags: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def value(self, flag: str) -> str:
        """Return what was given to an option of one value, or an empty text."""
        return "".join(self.flags.get(flag, ()))


def parse(line: str) -> Request:
    """Read a line.

    Args:
        line: What was typed behind the magic's name; nothing means the history.

    Raises:
        UsageError: If a word is wrong, missing or too many; one line that names the nearest right one.
    """
    first, _, rest = line.strip().partition(" ")
    if not first:
        return Request(DEFAULT)
    if first.startswith("-"):
        return _checked(_parsed(DEFAULT, line))
    if first not in BY_NAME:
        nearest = [f"show {first}"] if first.lstrip("-").isdecimal() else get_close_matches(first, BY_NAME, n=1)
        hint = f"did you mean {nearest[0]}?" if nearest else f"it knows {', '.join(BY_NAME)}"
        raise UsageError(f"%{MAGIC}: there is no {first!r}; {hint}")
    word = BY_NAME[first]
    return _checked(_with_text(word, rest) if word.is_raw else _parsed(word, rest))


def asks(line: str) -> bool:
    """Whether a line asks for help instead of a deed; the text of a note may hold any word."""
    words = line.split()
    is_raw = bool(words) and words[0] in BY_NAME and BY_NAME[words[0]].is_raw
    return any(word in HELP for word in (words[1:2] if is_raw else words))


def _with_text(word: Word, rest: str) -> Request:
    """Read one word, quoted where it has spaces, and the rest as one text as it was typed."""
    rest = rest.strip()
    quote = rest[:1] if rest[:1] in ("'", '"') and rest.count(rest[:1]) > 1 else ""
    first, _, text = rest[len(quote) :].partition(quote or " ")
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" and text[0] not in text[1:-1]:
        text = text[1:-1]
    return Request(word, tuple(part for part in (first, text) if part))


def _parsed(word: Word, rest: str) -> Request:
    places: list[str] = []
    flags: dict[str, tuple[str, ...]] = {}
    known = {flag.name: flag for flag in word.flags}
    waiting = _words(word, rest)
    while waiting:
        each = waiting.pop(0)
        name, has_value, value = each.partition("=")
        if not name.startswith("--"):
            places.append(each)
        elif name not in known:
            raise UsageError(_no_option(word, name))
        else:
            flags[name] = _values(word, known[name], [value] if has_value else None, waiting)
    return Request(word, tuple(places), flags)


def _words(word: Word, rest: str) -> list[str]:
    lexer = shlex.shlex(rest, posix=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    lexer.escape = ""  # a backslash is part of a path
    try:
        return list(lexer)
    except ValueError as error:
        raise UsageError(f"%{MAGIC} {word.name}: {str(error).lower()} in {rest.strip()!r}") from None


def _values(word: Word, flag: Flag, given: list[str] | None, waiting: list[str]) -> tuple[str, ...]:
    """Take an option's values from the words that wait."""
    if not flag.metavar:
        if given is not None:
            raise UsageError(f"%{MAGIC} {word.name}: {flag.name} takes no value, got {given[0]!r}")
        return ("",)
    found = given or []
    while given is None and waiting and not waiting[0].startswith("--") and (flag.many or not found):
        found.append(waiting.pop(0))
    if flag.many:
        found = [part for each in found for part in each.split(",")]
    found = [each for each in found if each]
    if not found:
        raise UsageError(f"%{MAGIC} {word.name}: {flag.name} wants {flag.metavar}, got nothing")
    return tuple(found)


def _no_option(word: Word, name: str) -> str:
    known = [flag.name for flag in word.flags]
    nearest = get_close_matches(name, (*known, *HELP), n=1)
    takes = f"it takes {' and '.join(known)}" if known else "it takes none"
    return f"%{MAGIC} {word.name}: there is no option {name!r}; {f'did you mean {nearest[0]}?' if nearest else takes}"


def _checked(request: Request) -> Request:
    word, places = request.word, request.places
    if len(places) < word.least:
        got = " ".join(places) or "nothing"
        raise UsageError(f"%{MAGIC} {word.name} wants {word.metavar}, got {got}; as in: {word.usage}")
    if word.most is not None and len(places) > word.most:
        extra = " ".join(places[word.most :])
        wants = f"takes only {word.metavar}" if word.metavar else "takes no words"
        raise UsageError(f"%{MAGIC} {word.name} {wants}, got {extra!r} as well")
    return request
