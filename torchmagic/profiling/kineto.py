"""This file is torch's profiler: started, marked and stopped, and what it noted down read as events."""

from collections.abc import Iterator
from typing import Any

import torch
from torch._C._autograd import DeviceType, _profiler_enabled
from torch.profiler import ProfilerActivity, profile

from torchmagic.models.quiet_terminal import quiet_kineto, quiet_terminal
from torchmagic.profiling.addresses import Addresses
from torchmagic.profiling.collected import LAUNCH, MEMORY, Event
from torchmagic.profiling.settings import ProfileSettings

# Moments at which a stretch begins and ends, each followed by its number; and what begins all names of ours.
BEGIN, END, OURS = "tm:b:", "tm:e:", "tm:"
EDGES = (BEGIN, END)


def is_profiling() -> bool:
    """Whether a profiler of torch runs in this thread; a second one would end it."""
    return _profiler_enabled()


class Kineto:
    """One recording of torch's profiler.

    It is started and stopped once. A second start would not do: ranges of torch's or of the user's that began under the
    first, such as that of the optimizer's step, would write into memory that is gone.

    Args:
        settings: What is noted down.
    """

    def __init__(self, settings: ProfileSettings) -> None:
        self._shapes, self._stacks = settings.shapes or settings.flops, settings.stacks
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self._addresses: Addresses | None = None
        activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if self.device == "cuda" else [])]
        self.profile = profile(
            activities=activities,
            record_shapes=self._shapes,
            profile_memory=settings.memory,
            with_stack=self._stacks,
        )

    def start(self) -> None:
        """Begin to record in this thread.

        Raises:
            RuntimeError: If torch refuses.
        """
        unknown = torch.empty(1) if self.profile.profile_memory else None
        with quiet_kineto():
            self.profile.start()
        if unknown is not None:
            with quiet_terminal():  # of the first release of what it does not know, torch writes a line; of others none
                del unknown

    def rest(self, *, rests: bool) -> None:
        """Leave out operators for a while; where this torch cannot do so, they go on being noted down."""
        if hasattr(self.profile, "toggle_collection_dynamic"):
            with quiet_terminal():  # it warns of kernels, whose collection goes on
                self.profile.toggle_collection_dynamic(not rests, [ProfilerActivity.CPU])

    def stop(self) -> bool:
        """End the recording; whether there is one, for somebody else may have ended it."""
        if not is_profiling():
            return False
        with quiet_kineto():
            self.profile.stop()
        return self._events is not None

    @property
    def _events(self) -> Any:
        inner = self.profile.profiler
        results = inner.kineto_results if inner is not None else None
        return results.events() if results is not None else None

    def marks(self) -> list[Event]:
        """Return our own ranges, the beginning and the end among them, in the order of their beginnings."""
        return [_event(each) for each in self._events or () if each.name().startswith(OURS)]

    def events(self, begin: int, end: int) -> Iterator[Event]:
        """Yield what was noted down between two moments; what reaches beyond them is cut there.

        Args:
            begin: Nanoseconds of the profiler's clock.
            end: Likewise.
        """
        make, event, on_device = tuple.__new__, Event, self.device == "cuda"
        inner = self.profile.profiler
        if self.profile.profile_memory and inner is not None and inner.kineto_results is not None:
            self._addresses = Addresses(inner.kineto_results)
        for each in self._events or ():
            start, stop, name = each.start_ns(), each.end_ns(), each.name()
            if stop < begin or start > end or name.startswith(EDGES) or (self._stacks and each.is_python_function()):
                continue
            if start < begin or stop > end:
                start, stop = max(start, begin), min(stop, end)
            if on_device or self._shapes or name == MEMORY:
                if (made := self._in_full(each, start, stop, name)) is not None:
                    yield made
                continue
            thread, sequence = each.start_thread_id(), each.sequence_nr()
            forward = each.fwd_thread_id() if sequence >= 0 else 0
            fields = (start, stop, name, thread, sequence, forward, None, None, None, None, False, 0)
            yield make(event, fields)  # a third of the time that Event(...) takes

    def _in_full(self, each: Any, start: int, stop: int, name: str) -> Event | None:
        device = self.device == "cuda" and each.device_type() != DeviceType.CPU
        if device and each.activity_type() == "gpu_user_annotation":  # a range, repeated on the device's own row
            return None
        if name == MEMORY:
            where = self._addresses.next_at(each.start_ns(), each.nbytes()) if self._addresses is not None else 0
            thread = each.start_thread_id()
            return Event(start, stop, name, thread, bytes=each.nbytes(), device=device, correlation=where)
        shapes = self._shapes and not device
        return Event(
            start=start,
            end=stop,
            name=name,
            thread=each.device_resource_id() if device else each.start_thread_id(),
            sequence=each.sequence_nr(),
            forward_thread=each.fwd_thread_id(),
            shapes=each.shapes() if shapes else None,
            dtypes=each.dtypes() if shapes else None,
            concrete=each.concrete_inputs() if shapes else None,
            device=device,
            correlation=correlation_of(each, name, device=device) if self.device == "cuda" else 0,
        )


def correlation_of(each: Any, name: str, *, device: bool) -> int:
    """Return the number of an operator, or of the one that launched this.

    What no operator launched is below zero: a kernel and its launch have a number in common, and operators may have the
    same numbers.
    """
    linked: int = each.linked_correlation_id()
    own: int = each.correlation_id()
    return linked or (-own if device or LAUNCH.fullmatch(name) else own)


def _event(each: Any) -> Event:
    return Event(each.start_ns(), each.end_ns(), each.name(), each.start_thread_id())
