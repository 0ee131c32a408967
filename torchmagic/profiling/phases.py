"""This file is the phases: ranges around forward, backward and optimizer, by what the taps tell."""

from collections.abc import Callable

from torchmagic.probes.taps import Taps
from torchmagic.profiling.collected import PHASE
from torchmagic.profiling.ranges import Range, Ranges

# The events at which a phase begins and ends. What clips gradients is the optimizer's.
BEGIN = {
    "root_begin": "forward",
    "backward_begin": "backward",
    "step_begin": "optimizer",
    "scaler_step_begin": "optimizer",
    "clip_begin": "optimizer",
}
END = {
    "root_end": "forward",
    "backward_end": "backward",
    "backward_error": "backward",
    "step_end": "optimizer",
    "scaler_step_end": "optimizer",
    "clip": "optimizer",
}


class Phases:
    """Puts a range around each phase; a phase within another, as of an optimizer's closure, is a range within it.

    A phase that never ended, because the user's code caught an exception, ends where it begins the next time.
    """

    def __init__(self, ranges: Ranges) -> None:
        self._ranges = {phase: ranges.make(f"{PHASE}{phase}") for phase in dict.fromkeys(BEGIN.values())}
        self._entered: list[Range] = []

    def attach(self, taps: Taps) -> None:
        """Listen for what begins and ends phases."""
        for event, phase in BEGIN.items():
            taps.on(event, self._beginning(self._ranges[phase]))
        for event, phase in END.items():
            taps.on(event, self._ending(self._ranges[phase]))

    def _beginning(self, entered: Range) -> Callable[..., None]:
        def begin(*_: object) -> None:
            self._end(entered)
            self._entered.append(entered)
            entered.__enter__()

        return begin

    def _ending(self, entered: Range) -> Callable[..., None]:
        def end(*_: object) -> None:
            self._end(entered)

        return end

    def _end(self, entered: Range) -> None:
        """End a phase where it is under way, and those that began in it."""
        if entered in self._entered:
            while (last := self._entered.pop()) is not entered:
                last.__exit__()
            entered.__exit__()
