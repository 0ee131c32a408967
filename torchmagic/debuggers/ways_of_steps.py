"""This file is the ways of steps: what is noted as a usual step begins and as it ends, in one function for each."""

from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

import torch

from torchmagic.probes.batches import Batches
from torchmagic.probes.cast import Cast
from torchmagic.probes.compiler import never_compiled
from torchmagic.probes.device_asserts import DeviceAsserts
from torchmagic.probes.gradients import Gradients
from torchmagic.probes.learning_rates import LearningRates
from torchmagic.probes.loss_scaling import LossScaling
from torchmagic.probes.memory import Memory
from torchmagic.probes.nonfinite import Nonfinite
from torchmagic.probes.taps import Taps
from torchmagic.probes.timing import Timing
from torchmagic.probes.user_modes import dispatch_modes, function_modes
from torchmagic.probes.validation import Validation
from torchmagic.probes.wrappers import now
from torchmagic.session.recorder import Recorder
from torchmagic.session.run import Run


class StepWays:
    """Does, in one go as an optimizer's step begins and as it ends, what the listeners do that hear every one, or not.

    Args:
        taps: Whose events these are.
        run: The run.
        probes: The run's, each by its class.
        fails: Told an exception; it takes the ways away, and returns False.
        recorder: Counts steps.

    Attributes:
        until: The step whose end is told to listeners.
        due: Seconds of the run's clock from which on a step's end has more to do than to close the step.
        tell_step: What else that does.
    """

    def __init__(
        self,
        taps: Taps,
        run: Run,
        probes: Mapping[type, Any],
        fails: Callable[[Exception], bool],
        *,
        recorder: Recorder,
    ) -> None:
        self._taps, self._run, self._fails = taps, run, fails
        self._recorder = recorder
        self._cast: Cast = probes[Cast]
        self._gradients: Gradients = probes[Gradients]
        self._nonfinite: Nonfinite = probes[Nonfinite]
        self._timing: Timing = probes[Timing]
        self._asserts: DeviceAsserts = probes[DeviceAsserts]
        self._memory, self._explosions = self._nonfinite.memory, self._nonfinite.weights.explosions
        self._validation: Validation | None = probes.get(Validation)
        self._rates: LearningRates | None = probes.get(LearningRates)
        self._batches: Batches | None = probes.get(Batches)
        self._scaling: LossScaling | None = probes.get(LossScaling)
        self._readings: Memory | None = probes.get(Memory)
        self.until, self.due = 0, 0.0
        self.tell_step: Callable[[], None] | None = None

    @never_compiled
    def step_begin(self, optimizer: torch.optim.Optimizer, _frame: FrameType) -> bool:
        """Take in that an optimizer's step begins."""
        taps, cast, began = self._taps, self._cast, now()
        taps.quiet = True
        try:
            entry = cast.by_optimizer.get(id(optimizer))
            if entry is None or entry.ref() is not optimizer or entry.is_out or dispatch_modes() or function_modes():
                return False
            groups = optimizer.param_groups
            if len(groups) != 1 or type(rate := groups[0].get("lr")) is not float:
                return False
            if entry.seen != (len(groups[0]["params"]), len(cast.models)) or len(self._memory.raw_backwards) != 1:
                return False
            rates = self._rates.usual(optimizer, rate) if self._rates is not None else None
            is_usual = rates is not None or self._rates is None
            total = self._gradients.begins_shortly(self._run.steps, optimizer, entry) if is_usual else None
            if total is None:
                return False
            if rates is not None:
                rates.steps += 1
            cast.at_work.steps += 1
            entry.last_step = cast.at_work.steps
            self._explosions.norms.append(total)
            self._explosions.rates[id(optimizer)] = [rate]
        except Exception as error:  # noqa: BLE001 - the wall
            return self._fails(error)
        else:
            return True
        finally:
            taps.quiet = False
            taps.spent += now() - began

    @never_compiled
    def step_end(self, _optimizer: Any, _took: int) -> bool:
        """Take in that it ends, and close the step."""
        taps, gradients, memory, began = self._taps, self._gradients, self._memory, now()
        inside, step = gradients.inside, self._run.steps + 1
        taps.quiet = True
        try:
            if inside is None or inside.has_closure or taps.clock.backward != gradients.backward_before:
                return False  # its gradients are made within the step
            if step >= self.until or self._run.clock.seconds >= self.due or not self._closes(began):
                return False
            gradients.inside = None
            self._asserts.over = True
            self._timing.close(self._run.steps, began, taps.spent)
            if memory.raw_calls:
                memory.steps += 1
                memory.raw_calls.clear()
                memory.made.clear()
            memory.raw_losses.clear()
            memory.raw_backwards.clear()
            memory.failed, self._nonfinite.loss = False, None
            self._nonfinite.births.step = taps.listeners.step = step
            self._recorder.count_step()
            if self.tell_step is not None:
                self.tell_step()
        except Exception as error:  # noqa: BLE001 - the wall
            return self._fails(error)
        else:
            return True
        finally:
            taps.quiet = False
            taps.spent += now() - began

    def _closes(self, present: int) -> bool:
        """Close the step for the probes that are not always there; whether none of them has more to do."""
        readings, scaling = self._readings, self._scaling
        if (readings is not None and present >= readings.next_reading) or (scaling is not None and scaling.scales):
            return False
        if self._validation is not None and not self._validation.closes_shortly():
            return False
        if self._batches is not None:
            self._batches.newest = None
        return True
