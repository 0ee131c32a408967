"""This file is the listeners: who hears which event, in the order in which they came, and who rests until when."""

import sys
from collections.abc import Callable, Iterable

Listener = Callable[..., None]
NEVER = sys.maxsize


class Listeners:
    """The listeners of each event.

    Args:
        events: Names of all events.
    """

    def __init__(self, events: Iterable[str]) -> None:
        self.awake: dict[str, list[Listener]] = {event: [] for event in events}
        self.step = 0  # the present one
        self.next_wake = NEVER
        self.changed = True  # who is awake, since somebody last asked
        self._all: dict[str, list[Listener]] = {event: [] for event in events}
        self._resting: dict[int, tuple[object, int]] = {}

    def add(self, event: str, listener: Listener) -> None:
        """Hand every event of this name to the listener, after those that came before."""
        self._all[event].append(listener)
        self.awake[event] = [*self.awake[event], listener]  # new lists: an event may be under way

    def drop(self, owner: object) -> None:
        """Forget an object's methods."""
        for event, listeners in self._all.items():
            self._all[event] = [each for each in listeners if _owner(each) is not owner]
        self._settle()

    def rest(self, owner: object, *, until: int) -> None:
        """Hand no events to an object's methods before a step; nothing happens when that step is the next one."""
        if until <= self.step + 1:
            return
        self._resting[id(owner)] = owner, until
        self._settle()

    def rests(self, owner: object) -> bool:
        """Whether an object rests."""
        return id(owner) in self._resting

    def wake(self, *, everybody: bool = False) -> None:
        """Begin a step: those whose rest is over, or all, hear events again."""
        resting = {key: rest for key, rest in self._resting.items() if rest[1] > self.step and not everybody}
        if len(resting) != len(self._resting):
            self._resting = resting
            self._settle()

    def wake_up(self, owner: object) -> None:
        """End the rest of one object, from the next event on."""
        if self._resting.pop(id(owner), None) is not None:
            self._settle()

    def _settle(self) -> None:
        self.changed = True
        self.next_wake = min((until for _, until in self._resting.values()), default=NEVER)
        for event, listeners in self._all.items():
            self.awake[event] = [each for each in listeners if id(_owner(each)) not in self._resting]


def _owner(listener: Listener) -> object:
    return getattr(listener, "__self__", listener)
