"""This file is the express: a step like those before goes past the listeners, whose notes are taken here for them."""

from collections.abc import Callable
from threading import get_ident
from types import FrameType
from typing import Any
from weakref import ref

import torch
from torch import nn

from torchmagic.debuggers.crew import Crew
from torchmagic.probes.cast import Cast
from torchmagic.probes.compiler import MARKS_CALLS, never_compiled
from torchmagic.probes.device_asserts import DeviceAsserts
from torchmagic.probes.gradients import Gradients
from torchmagic.probes.losses import Losses
from torchmagic.probes.nonfinite import Nonfinite
from torchmagic.probes.origin_memory import MOST_CALLS, random_state
from torchmagic.probes.sites import RELAY, kind_of
from torchmagic.probes.strays import Strays
from torchmagic.probes.taps import Taps
from torchmagic.probes.telling import tracing_state
from torchmagic.probes.timing import Timing
from torchmagic.probes.user_modes import dispatch_modes, function_modes
from torchmagic.probes.wrappers import is_grad_enabled, now
from torchmagic.session.recorder import Recorder
from torchmagic.session.run import Run

# What most losses are given: what a model gave, and a target.
PAIR = 2
# The probes that an express stands for.
STOOD_FOR = {Cast, Losses, Gradients, Nonfinite, Timing, DeviceAsserts, Strays}


class Express:
    """Does, in one go for each event of a step, what the listeners do that hear every step.

    On a small model, watching costs as much as the number of functions that are entered, each cold after torch's own.
    Where others hear an event as well, or where anything in it is unlike the steps before, it is told to listeners: a
    way does all that they would, or nothing. What is computed here leaves no graph and meets no mode of the user's.

    Args:
        taps: Which try the ways.
        crew: The probes of the run; those that ``STOOD_FOR`` names are among them.
        recorder: Counts steps.
        run: The run.
        on_failure: Told this and an exception.
    """

    def __init__(
        self, taps: Taps, crew: Crew, recorder: Recorder, run: Run, on_failure: Callable[[object, Exception], None]
    ) -> None:
        self._taps, self._crew, self._recorder, self._run = taps, crew, recorder, run
        self._on_failure, self._is_off = on_failure, False
        found: dict[type, Any] = {type(each): each for each in crew.probes}
        self._cast: Cast = found[Cast]
        self._losses: Losses = found[Losses]
        self._gradients: Gradients = found[Gradients]
        self._nonfinite: Nonfinite = found[Nonfinite]
        self._timing: Timing = found[Timing]
        self._asserts: DeviceAsserts = found[DeviceAsserts]
        self._flushed = [found[kind] for kind in (Cast, DeviceAsserts, Timing, Nonfinite, Strays)]
        self._memory, self._explosions = self._nonfinite.memory, self._nonfinite.weights.explosions
        self._until, self._due = 0, 0.0
        self._closer: object = None
        self._on_step: Callable[[Run], None] | None = None

    def arm(self, step: int, *, due: float, closer: object, on_step: Callable[[Run], None] | None) -> None:
        """Put ways before the listeners of a step that begins, where it is likely to be like the one before.

        Args:
            step: The step.
            due: Seconds of the run's clock from which on a step's end has more to do than to close the step.
            closer: Whose listener closes it.
            on_step: What else that does.
        """
        listeners, cast, nonfinite = self._taps.listeners, self._cast, self._nonfinite
        self._due, self._closer, self._on_step = due, closer, on_step
        if self._is_off or (listeners.has_ways and step + 1 < self._until):
            return
        listeners.unlike()
        until = step + nonfinite.num_calm(), 1 << (step - 1).bit_length(), cast.next_look, listeners.next_wake
        self._until = min(until)
        if step + 1 >= self._until or cast.untold or len(cast.at_work.members) != 1:
            return
        listeners.has_ways = True
        for event, owners, way in (
            ("root_begin", [cast, nonfinite], self._root),
            ("loss", [nonfinite], self._loss),
            ("backward_begin", [self._losses, nonfinite], self._backward),
            ("step_begin", [cast, self._gradients, nonfinite], self._step_begins),
            ("step_end", [self._gradients, closer], self._step_ends),
        ):
            if listeners.owners(event) == owners and (event != "step_end" or self._crew.flushed == self._flushed):
                listeners.ways[event] = way

    @never_compiled
    def _root(self, module: nn.Module, args: Any, kwargs: Any, frame: FrameType) -> bool:
        taps, cast, memory, began = self._taps, self._cast, self._memory, now()
        try:
            known = cast.by_module.get(id(module))
            if known is None or known[0]() is not module or (model := known[1]) is None:
                return False
            if not (module.training and taps.training and is_grad_enabled()):
                return False
            code, calls = frame.f_code, memory.raw_calls
            if memory.failed or len(calls) >= MOST_CALLS or tracing_state() is not None:
                return False
            if code is not memory.caller and kind_of(code.co_filename) != "user":
                return False
            state = random_state() if memory.draws else None
            calls.append((module, model, args, args, kwargs, code, frame.f_lasti, None, state, ()))
            memory.caller, cast.called, cast.current = code, model, model
            cast.learned_at = taps.listeners.step
        except Exception as error:  # noqa: BLE001 - the wall: our failure is never the user's
            return self._fails(error)
        else:
            return True
        finally:
            taps.spent += now() - began

    @never_compiled
    def _loss(self, name: str, args: Any, _kwargs: Any, output: Any, frame: FrameType) -> bool:
        losses, code, began = self._memory.raw_losses, frame.f_code, now()
        try:
            if len(args) < PAIR or not (type(args[0]) is type(args[1]) is type(output) is torch.Tensor):
                return False
            if get_ident() != self._taps.turn.ident or len(losses) >= MOST_CALLS or not is_grad_enabled():
                return False
            while (kind := kind_of(code.co_filename)) == "torch" or code.co_name == RELAY:
                if (above := frame.f_back) is None:
                    return False
                frame, code = above, above.f_code
            if kind != "user":
                return False
            losses.append((name, code, frame.f_lasti, ref(args[0]), ref(args[1]), ref(output)))
        except Exception as error:  # noqa: BLE001 - the wall
            return self._fails(error)
        else:
            return True
        finally:
            self._taps.spent += now() - began

    @never_compiled
    def _backward(self, loss: Any, frame: FrameType) -> bool:
        taps, memory, began = self._taps, self._memory, now()
        taps.quiet = True
        try:
            if type(loss) is not torch.Tensor or not loss.is_cpu or loss.numel() != 1:
                return False
            if dispatch_modes() or function_modes() or len(memory.raw_backwards) >= MOST_CALLS:
                return False
            caller = frame.f_back  # of a tensor's own method, which is torch's
            if caller is None or kind_of(caller.f_code.co_filename) != "user" or tracing_state() is not None:
                return False
            if not self._losses.take_shortly(self._run.steps, loss, caller):
                return False
            memory.raw_backwards.append((caller.f_code, caller.f_lasti, len(memory.raw_calls)))
            self._nonfinite.loss = ref(loss)
        except Exception as error:  # noqa: BLE001 - the wall
            return self._fails(error)
        else:
            return True
        finally:
            taps.quiet = False
            taps.spent += now() - began

    @never_compiled
    def _step_begins(self, optimizer: torch.optim.Optimizer, _frame: FrameType) -> bool:
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
            total = self._gradients.begins_shortly(self._run.steps, optimizer, entry)
            if total is None:
                return False
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
    def _step_ends(self, _optimizer: Any, _took: int) -> bool:
        taps, gradients, memory, began = self._taps, self._gradients, self._memory, now()
        inside, step = gradients.inside, self._run.steps + 1
        taps.quiet = True
        try:
            if inside is None or inside.has_closure or taps.clock.backward != gradients.backward_before:
                return False  # its gradients are made within the step
            if step >= self._until or self._run.clock.seconds >= self._due:
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
            if self._on_step is not None:
                self._tell_step(self._on_step)
        except Exception as error:  # noqa: BLE001 - the wall
            return self._fails(error)
        else:
            return True
        finally:
            taps.quiet = False
            taps.spent += now() - began

    def _tell_step(self, on_step: Callable[[Run], None]) -> None:
        """Tell of a step that is closed; the next one has its listeners told where that fails."""
        try:
            on_step(self._run)
        except Exception as error:  # noqa: BLE001 - the wall
            self._taps.listeners.unlike()
            self._on_failure(self._closer, error)

    def _fails(self, error: Exception) -> bool:
        """Go on without, and say so."""
        self._is_off = True
        self._taps.listeners.unlike()
        self._on_failure(self, error)
        return False


def express_of(
    taps: Taps, crew: Crew, recorder: Recorder, run: Run, *, on_failure: Callable[[object, Exception], None]
) -> Express | None:
    """Return the express of a run, None where a probe that it stands for is not there, or all could be compiled."""
    there = MARKS_CALLS and {type(each) for each in crew.probes} >= STOOD_FOR
    return Express(taps, crew, recorder, run, on_failure) if there else None
