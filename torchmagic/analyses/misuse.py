"""This file is a misuse of torch's interface: how an exception tells of it, and the words for it."""

from typing import NamedTuple


class Misuse(NamedTuple):
    """A way in which torch is used that it cannot work with.

    In the words, ``{what}`` stands for what failed, ``{name}`` for the first tensor on the line and ``{last}`` for the
    last, ``{line}`` for the expression, ``{says}`` for what torch says, and ``{0}`` and so on for groups of that.

    Args:
        says: Pattern of the exception's message.
        title: What happened.
        why: What torch needs.
        fix: What to write instead.
        where: Pattern of the expression that raised; empty for any.
    """

    says: str
    title: str
    why: str
    fix: str
    where: str = ""
