"""This file is the wrappers around the ``step`` of learning rate schedulers."""

from types import FrameType
from typing import Any, Protocol

from torch.optim import lr_scheduler

from torchmagic.probes.function_wrappers import Relays, relay_at
from torchmagic.probes.sites import RELAY, hide_ours
from torchmagic.probes.wrappers import Switchboard, frame_at, named_like

# Every class of torch that steps in a way of its own; the others inherit one of these.
SCHEDULERS: tuple[type, ...] = tuple(
    {
        value
        for value in vars(lr_scheduler).values()
        if isinstance(value, type) and issubclass(value, lr_scheduler.LRScheduler) and "step" in vars(value)
    }
)
# What a constructor calls: the schedule is set up, not stepped.
INITIAL = "_initial_step"


class Scheduling(Switchboard, Protocol):
    """Taps that know whether the code stands in a scheduler's step: a sequential schedule steps its parts."""

    scheduling: bool


def wrap_schedule(taps: Scheduling, original: Any) -> Any:
    """Wrap ``LRScheduler.step``: only the outermost call makes an event, and one by a constructor another one.

    torch warns at the line that calls ``step``, and every original must see that line there.
    """
    relays: Relays = {}

    def step(scheduler: Any, *args: Any, **kwargs: Any) -> Any:
        frame = frame_at(1)
        relay = relay_at(frame, relays)
        nested = taps.scheduling
        taps.scheduling = True
        try:
            result = relay(original, (scheduler, *args), kwargs)
        except BaseException as error:
            hide_ours(error)
            raise
        finally:
            taps.scheduling = nested
        if not nested:
            caller = _caller(frame)
            taps.emit("schedule_built" if caller.f_code.co_name == INITIAL else "scheduled", scheduler, caller)
            if isinstance(scheduler, lr_scheduler.ReduceLROnPlateau):
                taps.emit("schedule_metric", scheduler, args[0] if args else kwargs.get("metrics"))
        return result

    return named_like(step, original)


def wrap_plateau(taps: Scheduling, original: Any) -> Any:
    """Wrap the constructor of ``ReduceLROnPlateau``, the only one that makes no first step."""

    def __init__(scheduler: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - it takes that name's place
        original(scheduler, *args, **kwargs)
        if not taps.quiet:
            taps.emit("schedule_built", scheduler, frame_at(1))

    return named_like(__init__, original)


def _caller(frame: FrameType) -> FrameType:
    """Return the frame that called ``step``, behind the relays of other runs that are open."""
    while frame.f_code.co_name == RELAY:
        around = frame.f_back  # the other run's wrapper
        if around is None or around.f_back is None:
            break
        frame = around.f_back
    return frame
