"""This file is what the debuggers that are told step by step have in common: how closely they look, and their book."""

from typing import Any

from torchmagic.api.debugging.ledger import Ledger
from torchmagic.api.debugging.modes import DebugLevel, member

DETAILED = (DebugLevel.ADVANCED, DebugLevel.EXPERT, DebugLevel.EXTREME)
FULL = (DebugLevel.EXPERT, DebugLevel.EXTREME)


class Levelled:
    """A debugger with a level, and with a book of what it told.

    Args:
        level: How closely it looks: a ``DebugLevel`` or its name.
        max_history: Steps that are kept whole.
    """

    def __init__(self, level: DebugLevel | str, max_history: int) -> None:
        self.level = level
        self._ledger = Ledger(max_history)

    @property
    def level(self) -> DebugLevel:
        """How closely it looks; may be set at any time, also by its name."""
        return self._level

    @level.setter
    def level(self, level: DebugLevel | str) -> None:
        self._level = member(DebugLevel, level, "level")

    @property
    def debug_history(self) -> list[dict[str, Any]]:
        """What was told of the last steps, oldest first, without the statistics of each tensor."""
        return self._ledger.entries
