"""This file is who is left out of a watch: models of another name than the one asked for, and threads."""

from collections.abc import Iterator

REFUSED = "Another thread trained at the same time; only the thread that trained first was watched."
UNKNOWN = "No model called {} ran, so none was watched; those that ran: {}."
MOST_NAMES = 8


class LeftOut:
    """Models that run and are not watched.

    Args:
        only: Name of the only model to watch; empty for all.
    """

    def __init__(self, only: str) -> None:
        self._only = only
        self._came = False
        self._names: dict[str, None] = {}

    def has(self, name: str) -> bool:
        """Whether a model of this name, which runs, is left out."""
        if not self._only or name == self._only:
            self._came = True
            return False
        if len(self._names) < MOST_NAMES:
            self._names[name] = None
        return True

    def told(self, *, num_refused: int) -> Iterator[str]:
        """Yield a line on each that nobody would guess: of models only where all that ran were left out.

        Args:
            num_refused: Of threads.
        """
        if self._names and not self._came:
            yield UNKNOWN.format(repr(self._only), ", ".join(self._names))
        if num_refused:
            yield REFUSED
