"""This file is the patch: an attribute replaced for a while, and put back as it was."""

from collections.abc import Callable
from typing import Any


class Patches:
    """Attributes replaced by wrappers, taken back in reverse order.

    Where somebody else has replaced an attribute after us, theirs stays and ours, which they may still call, is left
    to pass through.
    """

    def __init__(self) -> None:
        self._undo: list[tuple[Any, str, Any, Any, bool]] = []

    def __len__(self) -> int:
        return len(self._undo)

    def replace(self, owner: Any, name: str, wrap: Callable[[Any], Any]) -> None:
        """Put ``wrap(original)`` in the place of ``owner.name``; nothing happens when there is no such name."""
        original = getattr(owner, name, None)
        if original is None:
            return
        own = name in vars(owner)
        wrapper = wrap(original)
        setattr(owner, name, wrapper)
        self._undo.append((owner, name, vars(owner)[name], original, own))

    def undo(self) -> None:
        """Put everything back; safe to call twice."""
        while self._undo:
            owner, name, wrapper, original, own = self._undo.pop()
            if vars(owner).get(name) is not wrapper:
                continue
            if own:
                setattr(owner, name, original)
            else:
                delattr(owner, name)
