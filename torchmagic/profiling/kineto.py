"""This file is torch's profiler: started, marked and stopped."""

from functools import partial
from typing import Any

import torch
from torch._C._autograd import _profiler_enabled
from torch.profiler import ProfilerActivity, profile

from torchmagic.models.quiet_terminal import quiet_kineto, quiet_terminal
from torchmagic.profiling.collected import Event
from torchmagic.profiling.columns import Columns, Unread
from torchmagic.profiling.recording import Recording
from torchmagic.profiling.settings import ProfileSettings
from torchmagic.session.ignored_warnings import ignored_warnings


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
        self._recording: Recording | None = None
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
        with quiet_kineto(), ignored_warnings(UserWarning):  # older torch warns at every start
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
        return self._results is not None

    def marks(self) -> list[Event]:
        """Return our own ranges, the beginning and the end among them, in the order of their beginnings."""
        self._recording = self._recording or self._listed()
        return self._recording.marks()

    def events(self, begin: int, end: int) -> Unread:
        """Return what was noted down between two moments; what reaches beyond them is cut there.

        Args:
            begin: Nanoseconds of the profiler's clock.
            end: Likewise.
        """
        return Unread(partial(self._columns, begin, end))

    def _columns(self, begin: int, end: int) -> Columns:
        recording, self._recording = self._recording or self._listed(), None
        return recording.columns(begin, end)

    def _listed(self) -> Recording:
        return Recording(
            self._results,
            on_device=self.device == "cuda",
            shapes=self._shapes,
            memory=self.profile.profile_memory,
            stacks=self._stacks,
        )

    @property
    def _results(self) -> Any:
        inner = self.profile.profiler
        return inner.kineto_results if inner is not None else None
