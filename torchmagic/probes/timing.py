"""This file measures time: how a step splits into data, forward, backward, optimizer and the rest."""

from torchmagic.analyses.time_split import PHASES
from torchmagic.probes.pacing import Pacer
from torchmagic.probes.taps import Taps
from torchmagic.probes.wrappers import PhaseClock, now
from torchmagic.session.recorder import Recorder


class Timing:
    """Records ``seconds`` of each phase per step, and tells the pacer how long steps take.

    Times are those of the host: work queued on a device counts where the host waits for it.

    Attributes:
        records: Whether the phases are recorded.
    """

    def __init__(self, pacer: Pacer, taps: Taps) -> None:
        self._pacer, self._meter = pacer, taps
        self.records = True
        self._recorder: Recorder | None = None
        self._clock = PhaseClock()
        self._step_began = now()
        self._spent_before = 0

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Read the clock that the taps keep."""
        self._recorder, self._clock = recorder, taps.clock
        self._step_began = now()

    def flush(self, step: int) -> None:
        """Close the step: what no phase took is the user's other code."""
        self.close(step, *read_clocks(self._meter))

    def close(self, step: int, present: int, spent: int) -> None:
        """Close the step at a time, by which torchmagic has taken so much (both ns)."""
        clock = self._clock
        whole = present - self._step_began
        ours = spent - self._spent_before
        phases = clock.data, clock.forward, clock.backward, clock.optimizer
        clock.data = clock.forward = clock.backward = clock.optimizer = 0
        if self._recorder is not None and self.records:
            data, forward, backward, optimizer = phases
            other = whole - ours - data - forward - backward - optimizer
            row = data / 1e9, forward / 1e9, backward / 1e9, optimizer / 1e9, other / 1e9 if other > 0 else 0.0
            frame = self._recorder.newest.get("seconds")
            if frame is not None:  # by the short way: this is done at every step
                frame.append(step, row)
            else:
                self._recorder.append("seconds", row, PHASES)
        self._step_began, self._spent_before = present, spent
        self._pacer.earn(whole - ours if whole > ours else 0, ours)

    def detach(self) -> None:
        """Hand over what came after the last step, such as an evaluation."""
        if self._recorder is not None:
            self.flush(self._recorder.step)
            self._recorder = None


def read_clocks(taps: Taps) -> tuple[int, int]:
    """Return what the clock says and what torchmagic took by then (both ns), with the event that is under way."""
    present = taps.closed_at or now()
    under_way = present - taps.began if taps.quiet and not taps.closed_at else 0
    return present, taps.spent + under_way
