"""This file is the parts: what a run's probes are made of, kept from one assembly to the next where it is the same."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

P = TypeVar("P")


class _Part(NamedTuple):
    kind: Any
    given: tuple[Any, ...]
    named: dict[str, Any]
    made: Any

    def is_made_of(self, kind: Any, given: tuple[Any, ...], named: dict[str, Any]) -> bool:
        same = len(self.given) == len(given) and all(a is b for a, b in zip(self.given, given, strict=True))
        return self.kind is kind and same and self.named == named


class Parts:
    """Makes each part once: asked again for a kind made of the very same things, it gives the one it made."""

    def __init__(self) -> None:
        self._before: list[_Part] = []
        self._made: list[_Part] = []

    def begin(self) -> None:
        """Begin an assembly: what is not asked for until the next one is forgotten."""
        self._before, self._made = self._made, []

    def __call__(self, kind: Callable[..., P], *given: Any, **named: Any) -> P:
        """Return the part of a kind that is made of these things."""
        known = (each for each in (*self._made, *self._before) if each.is_made_of(kind, given, named))
        part = next(known, None) or _Part(kind, given, named, kind(*given, **named))
        if all(part is not each for each in self._made):
            self._made.append(part)
        made: P = part.made
        return made
