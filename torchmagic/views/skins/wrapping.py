"""This file breaks text into lines; a percent sign stays with its number."""

import textwrap

_SPACE, _NO_BREAK = " %", "\u00a0%"


def wrap(text: str, width: int, *, initial_indent: str = "", subsequent_indent: str = "") -> list[str]:
    """Return text as lines of at most a width, in characters, the first and the following ones indented."""
    lines = textwrap.wrap(
        text.replace(_SPACE, _NO_BREAK), width, initial_indent=initial_indent, subsequent_indent=subsequent_indent
    )
    return [line.replace(_NO_BREAK, _SPACE) for line in lines]
