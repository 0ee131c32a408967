"""This file is Tab: words and options of our magics, and the values of those that take one of several."""

import re
from collections.abc import Callable, Iterable
from typing import Any

from IPython.core import completer as ipython_completer

from torchmagic.jupyter import modelinfo_words, session_words, tensorinfo_words
from torchmagic.jupyter.cell_magics import CELL_MAGICS, EXPLAIN, TORCHBENCH, CellMagic
from torchmagic.jupyter.option import Option, rule_ids

_SESSION = re.compile(rf"\s*%{session_words.MAGIC}\s(?P<words>.*)$")
_MODELINFO = re.compile(rf"\s*%{modelinfo_words.MAGIC}\s(?P<words>.*)$")
_TENSORINFO = re.compile(rf"\s*%{tensorinfo_words.MAGIC}\s(?P<words>.*)$")
_CELL_MAGICS = {magic.name: magic for magic in (*CELL_MAGICS, TORCHBENCH)}
_HEADER = re.compile(rf"\s*(?P<signs>%%?)(?P<name>{'|'.join(_CELL_MAGICS)})\s(?P<options>.*)$")


def candidates(text: str) -> list[str]:
    """Return the words that may stand at the end of a line.

    Args:
        text: The line up to the cursor.

    Returns:
        Whole words, each beginning with what is typed already; empty when the line is none of ours.
    """
    asked = _SESSION.match(text)
    if asked is not None:
        from torchmagic.jupyter.session_completion import session_candidates  # noqa: PLC0415 - with the first Tab

        return session_candidates(asked["words"])
    asked = _MODELINFO.match(text)
    if asked is not None:
        return modelinfo_words.modelinfo_candidates(asked["words"])
    asked = _TENSORINFO.match(text)
    if asked is not None:
        return tensorinfo_words.tensorinfo_candidates(asked["words"])
    header = _HEADER.match(text)
    if header is None:
        return []
    return _option_candidates(_CELL_MAGICS[header["name"]], header["options"], is_cell=header["signs"] == "%%")


def install(shell: Any) -> Callable[[], None]:
    """Add the matcher to a shell.

    Returns:
        What takes it out again.
    """
    matchers = getattr(shell.Completer, "custom_matchers", None)
    context_matcher = getattr(ipython_completer, "context_matcher", None)
    if matchers is None or context_matcher is None:  # IPython before 8.6 completes without us
        return lambda: None

    @context_matcher(identifier="torchmagic.options", priority=100)  # type: ignore[untyped-decorator] # IPython's
    def torchmagic_options(context: Any) -> dict[str, Any]:
        text = context.text_until_cursor
        word = text.rsplit(" ", 1)[-1]
        # The front end replaces only the token, which IPython cuts at characters such as = and , (and keeps at -).
        typed = len(word) - len(context.token) if word.endswith(context.token) else 0
        found = [ipython_completer.SimpleCompletion(each[typed:], type="param") for each in candidates(text)]
        return {"completions": found, "suppress": bool(found)}

    matchers.append(torchmagic_options)

    def remove() -> None:
        if torchmagic_options in matchers:
            matchers.remove(torchmagic_options)

    return remove


def _option_candidates(magic: CellMagic, typed: str, *, is_cell: bool) -> list[str]:
    *before, word = typed.split(" ")
    flag, has_value, value = word.partition("=")
    previous = before[-1] if before else ""
    option, option_before = magic.option(flag), magic.option(previous)
    if has_value and option is not None:
        return [f"{flag}={each}" for each in _values(option, value)]
    if previous == EXPLAIN:
        return _beginning(rule_ids(), word)
    if option_before is not None and _choices(option_before):
        return _values(option_before, word)
    if word.startswith("-"):
        return _beginning(magic.flags, word)
    return _beginning(magic.words, word) if not before and not is_cell else []


def _values(option: Option, word: str) -> list[str]:
    if not option.many:
        return _beginning(_choices(option), word)
    done, comma, last = word.rpartition(",")
    left = [choice for choice in _choices(option) if choice not in done.split(",")]
    return [f"{done}{comma}{choice}" for choice in _beginning(left, last)]


def _choices(option: Option) -> tuple[str, ...]:
    return option.choices or option.known()


def _beginning(known: Iterable[str], word: str) -> list[str]:
    return [each for each in known if each.startswith(word)]
