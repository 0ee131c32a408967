"""This file is the express: a step like those before goes past the listeners, whose notes are taken here for them."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from torchmagic.debuggers.crew import Crew
from torchmagic.debuggers.ways_of_calls import CallWays
from torchmagic.debuggers.ways_of_steps import StepWays
from torchmagic.probes.activations import Activations
from torchmagic.probes.batches import Batches
from torchmagic.probes.cast import Cast
from torchmagic.probes.compiler import MARKS_CALLS
from torchmagic.probes.device_asserts import DeviceAsserts
from torchmagic.probes.gradients import Gradients
from torchmagic.probes.inputs import Inputs
from torchmagic.probes.learning_rates import LearningRates
from torchmagic.probes.listeners import Way
from torchmagic.probes.loss_scaling import LossScaling
from torchmagic.probes.losses import Losses
from torchmagic.probes.memory import Memory
from torchmagic.probes.nonfinite import Nonfinite
from torchmagic.probes.rectifiers import Rectifiers
from torchmagic.probes.retained import Retained
from torchmagic.probes.strays import Strays
from torchmagic.probes.taps import Taps
from torchmagic.probes.timing import Timing
from torchmagic.probes.validation import Validation
from torchmagic.session.recorder import Recorder
from torchmagic.session.run import Run

# The probes whose notes are taken by ways: all of these are there, and of those any.
ALWAYS = frozenset({Cast, Losses, Gradients, Nonfinite, Timing, DeviceAsserts, Strays})
WHERE_THERE = frozenset({Inputs, Validation, Retained, LearningRates, Batches, Rectifiers, LossScaling, Memory})


class Express:
    """Puts ways before the listeners of a step that is likely to be like the one before.

    On a small model, watching costs as much as the number of functions that are entered, each cold after torch's own.
    Where others hear an event as well, or where anything in it is unlike the steps before, it is told to listeners.

    Args:
        taps: Which try the ways.
        crew: The probes of the run; those of ``ALWAYS`` are among them.
        recorder: Counts steps.
        run: The run.
        on_failure: Told this and an exception.
    """

    def __init__(
        self, taps: Taps, crew: Crew, recorder: Recorder, run: Run, on_failure: Callable[[object, Exception], None]
    ) -> None:
        self._listeners, self._crew, self._run = taps.listeners, crew, run
        self._on_failure, self._is_off = on_failure, False
        there: dict[type, Any] = {type(each): each for each in crew.probes}
        self._steps = steps = StepWays(taps, run, there, self._fails, recorder=recorder)
        self._calls = calls = CallWays(taps, run, there, self._fails)
        self._activations: Activations | None = there.get(Activations)
        self._cast: Cast = there[Cast]
        self._nonfinite: Nonfinite = there[Nonfinite]
        self._retained: Retained | None = there.get(Retained)
        self._rectifiers: Rectifiers | None = there.get(Rectifiers)
        validation: Validation | None = there.get(Validation)
        # Of each event the way, and whose listeners hear it in a usual step.
        self._heard: list[tuple[str, Way, list[object]]] = [
            ("root_begin", calls.root_begin, _present(there, Cast, Inputs, Validation, Nonfinite, Retained)),
            ("loss", calls.loss, [*_present(there, Inputs, Nonfinite), *([validation.losses] if validation else [])]),
            ("backward_begin", calls.backward_begin, _present(there, Validation, Losses, Nonfinite, Retained)),
            ("step_begin", steps.step_begin, _present(there, Cast, Gradients, Nonfinite, LearningRates)),
        ]
        self._gradients = there[Gradients]
        self._flushed = {id(there[kind]) for kind in (Cast, DeviceAsserts, Timing, Nonfinite, Strays)}
        self._may_be_flushed = self._flushed | {id(each) for each in _present(there, *WHERE_THERE)}

    def arm(self, step: int, *, due: float, closer: object, on_step: Callable[[Run], None] | None) -> None:
        """Put ways before the listeners of a step that begins, where it is likely to be like the one before.

        Args:
            step: The step.
            due: Seconds of the run's clock from which on a step's end has more to do than to close the step.
            closer: Whose listener closes it.
            on_step: What else that does.
        """
        listeners, steps = self._listeners, self._steps
        steps.due, steps.tell_step = due, None if on_step is None else partial(self._tell_step, closer, on_step)
        if self._is_off or (listeners.has_ways and step + 1 < steps.until):
            return
        listeners.unlike()
        calm = min(step + self._nonfinite.num_calm(), 1 << (step - 1).bit_length())
        steps.until = min(calm, *self._next_ends())
        if step + 1 >= calm or self._cast.untold or len(self._cast.at_work.members) != 1:
            return
        listeners.has_ways = True
        for event, way, owners in self._heard:
            if _same(listeners.owners(event), owners):
                listeners.ways[event] = way
        if self._activations is not None and self._sees_leaves_alone(listeners.owners("leaf")):
            listeners.ways["leaf"] = self._calls.leaf
        flushed = {id(probe) for probe in self._crew.flushed}
        closes = step + 1 < steps.until and _same(listeners.owners("step_end"), [self._gradients, closer])
        if closes and self._flushed <= flushed <= self._may_be_flushed:
            listeners.ways["step_end"] = steps.step_end

    def _sees_leaves_alone(self, owners: list[object]) -> bool:
        """Whether of those who are told of the innermost modules' outputs only activations are measured now."""
        if self._rectifiers is not None and self._rectifiers.is_looking:
            return False
        others = [each for each in owners if each is not self._activations]
        return len(others) < len(owners) and all(each is self._rectifiers for each in others)

    def _next_ends(self) -> Iterator[int]:
        """Yield steps at whose end, as far as can be foreseen, somebody has more to do than to take note."""
        yield self._cast.next_look
        yield self._listeners.next_wake
        if self._retained is not None:
            yield self._retained.next_look + 1
        if self._rectifiers is not None:
            yield self._rectifiers.next

    def _tell_step(self, closer: object, on_step: Callable[[Run], None]) -> None:
        """Tell of a step that is closed; the next one has its listeners told where that fails."""
        try:
            on_step(self._run)
        except Exception as error:  # noqa: BLE001 - the wall
            self._listeners.unlike()
            self._on_failure(closer, error)

    def _fails(self, error: Exception) -> bool:
        """Go on without, and say so; return that nothing was noted."""
        self._is_off = True
        self._listeners.unlike()
        self._on_failure(self, error)
        return False


def _present(there: dict[type, object], *kinds: type) -> list[object]:
    return [there[kind] for kind in kinds if kind in there]


def _same(owners: list[object], others: list[object]) -> bool:
    """Whether the same listen, each once, in whatever order."""
    return len(owners) == len(others) and {id(each) for each in owners} == {id(each) for each in others}


def express_of(
    taps: Taps, crew: Crew, recorder: Recorder, run: Run, *, on_failure: Callable[[object, Exception], None]
) -> Express | None:
    """Return the express of a run, None where a probe that it stands for is not there, or all could be compiled."""
    there = MARKS_CALLS and {type(each) for each in crew.probes} >= ALWAYS
    return Express(taps, crew, recorder, run, on_failure) if there else None
