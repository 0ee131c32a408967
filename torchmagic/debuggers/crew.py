"""This file is the crew: the probes of one run, put in, taken out and flushed, with a wall around each."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol, runtime_checkable

from torchmagic.probes.probe import Probe, nothing_waits
from torchmagic.probes.taps import Taps
from torchmagic.probes.user_modes import users_ways_aside
from torchmagic.session.recorder import Recorder


@runtime_checkable
class TimesAll(Protocol):
    """A probe that times all that runs, torchmagic's own work as well, until it is told that the code is over."""

    def end_timing(self) -> None:
        """End that; safe to call twice."""


class Crew:
    """The probes of one run.

    Args:
        taps: Through which they listen.
        recorder: Takes what they measure.
        on_failure: Told a probe that raised, and the exception.

    Attributes:
        probes: The probes, in the order in which they hear an event.
        flushed: Those that hand over something at a step's end, and do not rest.
    """

    def __init__(self, taps: Taps, recorder: Recorder, on_failure: Callable[[object, Exception], None]) -> None:
        self._taps, self._recorder, self._on_failure = taps, recorder, on_failure
        self.probes: list[Probe] = []
        self._flushing: list[tuple[int, Probe]] = []  # with its identity
        self.flushed: list[Probe] = []

    def become(self, probes: Sequence[Probe]) -> None:
        """Let go of the probes that are not among these, and put in those that are new, in this order."""
        staying = {id(probe) for probe in probes}
        present = {id(probe) for probe in self.probes}
        for probe in [each for each in self.probes if id(each) not in staying]:
            self.probes.remove(probe)
            self._taps.listeners.drop(probe)
            self.guarded(probe, probe.detach)
        new = [probe for probe in probes if id(probe) not in present]
        self.probes = list(probes)
        for probe in new:
            self._put_in(probe)
        self._taps.listeners.arrange(self.probes)
        self._flushing = [(id(probe), probe) for probe in self.probes if type(probe).flush is not nothing_waits]
        self._taps.listeners.wake(everybody=True)  # another level has another pace
        self.wake()

    def _put_in(self, probe: Probe) -> None:
        listeners = self._taps.listeners
        listeners.host = probe
        try:
            self.guarded(probe, probe.attach, self._taps, self._recorder)
        finally:
            listeners.host = None

    def flush(self, step: int) -> None:
        """Close a step: every probe that does not rest hands over."""
        probe = None
        try:
            for probe in self.flushed:
                probe.flush(step)
        except Exception as error:  # noqa: BLE001 - the wall: a probe's failure is never the user's
            behind = self.flushed[self.flushed.index(probe) + 1 :] if probe is not None else []
            self._on_failure(probe, error)
            for each in behind:
                self.guarded(each, each.flush, step)

    def wake(self) -> None:
        """Begin a step: some probes have gone to rest, and the rest of others is over."""
        listeners = self._taps.listeners
        listeners.wake()
        listeners.changed = False
        resting = listeners.resting
        self.flushed = [probe for identity, probe in self._flushing if identity not in resting]

    def drop(self, probe: object) -> bool:
        """Go on without a probe that failed; whether it was one of the crew."""
        if probe not in self.probes:
            return False
        self.probes = [each for each in self.probes if each is not probe]
        self._flushing = [each for each in self._flushing if each[1] is not probe]
        self.flushed = [each for each in self.flushed if each is not probe]
        self._taps.listeners.drop(probe)
        with suppress(Exception):  # it has failed already, and that is recorded
            probe.detach()
        return True

    def end(self, error: BaseException | None) -> None:
        """Hear no more, as the user's code is over, before torch is left: what that takes is no time of the code.

        Args:
            error: What ended the code; None where nothing did.
        """
        began = time.perf_counter_ns()
        self._taps.quiet, self._taps.ended_by = True, None if error is None else type(error)
        for probe in tuple(self.probes):
            if isinstance(probe, TimesAll):
                self.guarded(probe, probe.end_timing)
        self._taps.spent += time.perf_counter_ns() - began

    def detach(self) -> None:
        """Let every probe hand over and let go."""
        for probe in self.probes:
            self.guarded(probe, probe.detach)

    def guarded(self, probe: Probe, deed: Callable[..., None], *arguments: Any) -> None:
        """Do something with a probe; its failure is told, and never the user's."""
        try:
            with users_ways_aside():
                deed(*arguments)
        except Exception as error:  # noqa: BLE001 - the wall: a probe's failure is never the user's
            self._on_failure(probe, error)
