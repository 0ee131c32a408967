"""This file is the ways of calls: what is noted of a usual model, loss and backward, in one function for each."""

from collections.abc import Callable, Mapping
from threading import get_ident
from types import FrameType
from typing import Any
from weakref import ref

import torch
from torch import nn

from torchmagic.probes.activations import Activations
from torchmagic.probes.cast import Cast
from torchmagic.probes.compiler import never_compiled
from torchmagic.probes.inputs import Inputs
from torchmagic.probes.listeners import NEVER
from torchmagic.probes.losses import Losses
from torchmagic.probes.members import Model
from torchmagic.probes.model_losses import in_model
from torchmagic.probes.nonfinite import Nonfinite
from torchmagic.probes.origin_memory import MOST_CALLS, random_state
from torchmagic.probes.retained import Retained
from torchmagic.probes.sites import RELAY, kind_of
from torchmagic.probes.sync_debug import SYNC_DEBUG
from torchmagic.probes.taps import Taps
from torchmagic.probes.telling import tracing_state
from torchmagic.probes.tracing import tracing_context
from torchmagic.probes.user_modes import dispatch_modes, function_modes
from torchmagic.probes.validation import Validation
from torchmagic.probes.wrappers import is_grad_enabled, now
from torchmagic.session.run import Run

# What most losses are given: what a model gave, and a target.
PAIR = 2


class CallWays:
    """Does, in one go for each event before an optimizer's step, what the listeners do that hear every one, or nothing.

    What is computed here leaves no graph and meets no mode of the user's.

    Args:
        taps: Whose events these are.
        run: The run.
        probes: The run's, each by its class.
        fails: Told an exception; it takes the ways away, and returns False.
    """

    def __init__(self, taps: Taps, run: Run, probes: Mapping[type, Any], fails: Callable[[Exception], bool]) -> None:
        self._taps, self._run, self._fails = taps, run, fails
        self._cast: Cast = probes[Cast]
        self._losses: Losses = probes[Losses]
        self._nonfinite: Nonfinite = probes[Nonfinite]
        self._memory = self._nonfinite.memory
        self._inputs: Inputs | None = probes.get(Inputs)
        self._validation: Validation | None = probes.get(Validation)
        self._retained: Retained | None = probes.get(Retained)
        self._activations: Activations | None = probes.get(Activations)
        self._sees_data = self._inputs is not None or self._validation is not None

    @never_compiled
    def root_begin(self, module: nn.Module, args: Any, kwargs: Any, frame: FrameType) -> bool:
        """Take in a call of a model."""
        taps, cast, memory, began = self._taps, self._cast, self._memory, now()
        try:
            known = cast.by_module.get(id(module))
            if known is None or known[0]() is not module or (model := known[1]) is None:
                return False
            if not (module.training and taps.training and is_grad_enabled()) or tracing_state() is not None:
                return False
            code, calls = frame.f_code, memory.raw_calls
            is_users = code is memory.caller or kind_of(code.co_filename) == "user"
            if memory.failed or len(calls) >= MOST_CALLS or not is_users:
                return False
            if self._sees_data and not self._begins(model, frame):
                return False
            state = random_state() if memory.draws else None
            calls.append((module, model, args, args, kwargs, code, frame.f_lasti, None, state, ()))
            memory.caller, cast.called, cast.current = code, model, model
            cast.learned_at = taps.listeners.step
            if self._retained is not None:
                self._retained.comes()
        except Exception as error:  # noqa: BLE001 - the wall: our failure is never the user's
            return self._fails(error)
        else:
            return True
        finally:
            taps.spent += now() - began

    @never_compiled
    def leaf(self, module: nn.Module, output: Any) -> bool:
        """Take in what an innermost module gave, where activations are looked at."""
        taps, activations, began = self._taps, self._activations, now()
        if activations is None or not is_grad_enabled() or tracing_state() is not None or tracing_context() is not None:
            return False
        if SYNC_DEBUG.mode or dispatch_modes() or function_modes():
            return False
        taps.quiet = True
        try:
            return activations.sees_shortly(module, output)
        except Exception as error:  # noqa: BLE001 - the wall
            return self._fails(error)
        finally:
            taps.quiet = False
            taps.spent += now() - began

    @never_compiled
    def loss(self, name: str, args: Any, kwargs: Any, output: Any, frame: FrameType) -> bool:
        """Take in a loss that was computed."""
        taps, losses, code, began = self._taps, self._memory.raw_losses, frame.f_code, now()
        try:
            if len(args) < PAIR or not (type(args[0]) is type(args[1]) is type(output) is torch.Tensor):
                return False
            if get_ident() != taps.turn.ident or len(losses) >= MOST_CALLS or not is_grad_enabled():
                return False
            while (kind := kind_of(code.co_filename)) == "torch" or code.co_name == RELAY:
                if (above := frame.f_back) is None:
                    return False
                frame, code = above, above.f_code
            if kind != "user" or (self._sees_data and not self._loses(name, args[0], kwargs, output)):
                return False
            losses.append((name, code, frame.f_lasti, ref(args[0]), ref(args[1]), ref(output)))
        except Exception as error:  # noqa: BLE001 - the wall
            return self._fails(error)
        else:
            return True
        finally:
            taps.spent += now() - began

    @never_compiled
    def backward_begin(self, loss: Any, frame: FrameType) -> bool:
        """Take in that a backward begins."""
        taps, memory, began = self._taps, self._memory, now()
        taps.quiet = True
        try:
            if type(loss) is not torch.Tensor or dispatch_modes() or function_modes() or tracing_state() is not None:
                return False
            if not loss.is_cpu or loss.numel() != 1 or len(memory.raw_backwards) >= MOST_CALLS:
                return False
            caller = frame.f_back  # of a tensor's own method, which is torch's
            step, due = self._run.steps, self._retained.next_site if self._retained is not None else NEVER
            if caller is None or kind_of(caller.f_code.co_filename) != "user" or step >= due:
                return False
            is_usual = self._validation is None or self._validation.goes_back_shortly()
            if not (is_usual and self._losses.take_shortly(step, loss, caller)):
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

    def _begins(self, model: Model, frame: FrameType) -> bool:
        """Take in a call for the probes that see data, or nothing."""
        inputs, validation = self._inputs, self._validation
        counted = inputs.usual(model) if inputs is not None else None
        if (counted is None) is not (inputs is None):
            return False
        if validation is not None and not validation.begins_shortly(model, frame):
            return False
        if inputs is not None and counted is not None:
            inputs.count(counted)
        return True

    def _loses(self, name: str, given: torch.Tensor, kwargs: Mapping[str, Any], output: torch.Tensor) -> bool:
        """Take in a loss for the probes that see data, or nothing."""
        inputs, validation = self._inputs, self._validation
        count = inputs.usual_loss(name) if inputs is not None else 0
        if inputs is not None and not count:
            return False
        if validation is not None:
            if dispatch_modes() or function_modes() or in_model(self._taps):
                return False
            if not validation.loses_shortly(name, given, output, kwargs):
                return False
        if inputs is not None:
            inputs.losses[name] = count
        return True
