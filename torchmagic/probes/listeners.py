"""This file is the listeners: who hears which event, in the order in which they came, and who rests until when."""

import sys
from collections.abc import Callable, Iterable

Listener = Callable[..., None]
# Does all that the listeners of an event would, or nothing: then it returns False.
Way = Callable[..., bool]
# What every step has, and what it has many of where the innermost modules are seen.
EVERY_STEP = ("root_begin", "leaf", "loss", "backward_begin", "step_begin", "step_end")
NEVER = sys.maxsize


class Listeners:
    """The listeners of each event.

    Args:
        events: Names of all events.

    Attributes:
        awake: The listeners of each event that hear it at present.
        ways: Of events that every step has, the short way that is tried before they are told to listeners; None where
            there is none.
        has_ways: Whether there may be some.
        step: The present step.
        next_wake: The step at which the next rest is over.
        changed: Whether somebody went to rest or woke up since this was last set to False.
        closing: Whether the step is being closed: no event comes before ``wake``, which then settles who hears what.
        resting: The step at which each rest is over, by the identity of who rests.
        under_way: The listeners that the newest event was handed to.
        host: On whose behalf listeners are added at present; dropping it drops its helpers' listeners as well.
    """

    def __init__(self, events: Iterable[str]) -> None:
        self.awake: dict[str, list[Listener]] = {event: [] for event in events}
        self.ways: dict[str, Way | None] = dict.fromkeys(EVERY_STEP)
        self.has_ways = False
        self.step = 0
        self.next_wake = NEVER
        self.changed = True
        self.closing = False
        self.resting: dict[int, int] = {}
        self.under_way: list[Listener] = []
        self._all: dict[str, list[tuple[int, Listener]]] = {event: [] for event in self.awake}
        self._events: dict[int, set[str]] = {}
        self._unsettled: set[str] = set()
        self.host: object | None = None
        self._helpers: dict[int, set[int]] = {}
        self._helping: set[int] = set()  # these have no part in a step's end

    def add(self, event: str, listener: Listener) -> None:
        """Hand every event of this name to the listener, after those that came before."""
        owner = id(getattr(listener, "__self__", listener))  # the listener keeps it alive
        self._all[event].append((owner, listener))
        self._events.setdefault(owner, set()).add(event)
        if self.host is not None and owner != id(self.host):
            self._helpers.setdefault(id(self.host), set()).add(owner)
            self._helping.add(owner)
        self._settle(owner)

    def drop(self, owner: object) -> None:
        """Forget an object's methods, and those of its helpers."""
        gone = {id(owner), *self._helpers.pop(id(owner), ())}
        for event in set[str]().union(*(self._events.get(each, set()) for each in gone)):
            self._all[event] = [each for each in self._all[event] if each[0] not in gone]
        self._settle(*gone)
        for each in gone:  # another object may get the same identity
            self._events.pop(each, None)
            self.resting.pop(each, None)
            self._helping.discard(each)

    def arrange(self, owners: Iterable[object]) -> None:
        """Let objects hear each event in this order, their helpers in their place, and all others after them."""
        rank: dict[int, int] = {}
        for place, owner in enumerate(owners):
            for each in (id(owner), *self._helpers.get(id(owner), ())):
                rank.setdefault(each, place)
        for listeners in self._all.values():
            listeners.sort(key=lambda each: rank.get(each[0], len(rank)))
        self._settle(*self._events)

    def rest(self, owner: object, *, until: int) -> None:
        """Hand no events to an object's methods before a step; nothing happens when that step is the next one."""
        if until > self.step + 1:
            self.resting[id(owner)] = until
            self.next_wake = min(self.next_wake, until)
            self._settle(id(owner))

    def rests(self, owner: object) -> bool:
        """Whether an object rests."""
        return id(owner) in self.resting

    def wake(self, *, everybody: bool = False) -> None:
        """Begin a step: those whose rest is over, or all, hear events again."""
        if not everybody and self.next_wake > self.step:
            self._settle()
            return
        rested = [owner for owner, until in self.resting.items() if everybody or until <= self.step]
        for owner in rested:
            del self.resting[owner]
        self._settle(*rested)
        self.next_wake = min(self.resting.values(), default=NEVER)

    def wake_up(self, owner: object) -> None:
        """End the rest of one object, from the next event on."""
        if self.resting.pop(id(owner), None) is not None:
            self._settle(id(owner))

    def summon(self, owner: object, event: str) -> None:
        """End the rest of one object, and have it hear the event that is under way, after all the others."""
        if id(owner) in self.resting:
            self.under_way.extend(listener for whose, listener in self._all[event] if whose == id(owner))
            self.wake_up(owner)

    def unlike(self) -> None:
        """Say that this step is not like the ones before: the rest of it is told to listeners."""
        if self.has_ways:
            self.has_ways = False
            for event in self.ways:
                self.ways[event] = None

    def owners(self, event: str) -> list[object]:
        """Return whose listeners hear an event at present."""
        return [getattr(listener, "__self__", listener) for listener in self.awake[event]]

    def clear(self) -> None:
        """Forget everybody."""
        self.unlike()
        for events in (self.awake, self._all):
            for listeners in events.values():
                listeners.clear()
        for known in (self._events, self._helpers, self._helping, self.resting):
            known.clear()
        self.host, self.under_way = None, []

    def _settle(self, *owners: int) -> None:
        self.changed = True
        for owner in owners:
            events = self._events.get(owner, set())
            self._unsettled |= events
            if owner not in self._helping or not self.ways.keys().isdisjoint(events):
                self.unlike()
        if self.closing:
            return
        resting = self.resting
        for event in self._unsettled:  # new lists: an event may be under way
            self.awake[event] = [listener for whose, listener in self._all[event] if whose not in resting]
        self._unsettled.clear()
