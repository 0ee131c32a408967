"""This file is the wrappers for a profile: a range around each call of a module, word of profilers and of workers."""

from typing import Any

from torchmagic.probes.sites import hide_ours
from torchmagic.probes.tracing import is_compiling
from torchmagic.probes.wrappers import Switchboard, frame_at, named_like


def wrap_ranged(taps: Switchboard, original: Any) -> Any:
    """Wrap ``Module.__call__`` at all depths: the range that ``taps.ranges`` has for the module goes around its call.

    The compiler is asked first: what it would read of the taps it would watch, and compile anew when that changes.
    """

    def __call__(module: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807 - it takes that name's place
        if is_compiling() or taps.quiet or (ranges := taps.ranges) is None:
            return original(module, *args, **kwargs)
        try:
            around = ranges[id(module)]
        except KeyError:
            taps.emit("module_met", module, frame_at(1))
            around = ranges.get(id(module))
        try:
            if around is None:
                return original(module, *args, **kwargs)
            with around:
                return original(module, *args, **kwargs)
        except BaseException as error:
            hide_ours(error)
            raise

    return named_like(__call__, original)


def wrap_profiler(taps: Switchboard, original: Any) -> Any:
    """Wrap the beginning of torch's profiler: there can be one at a time, and the user's own comes first."""

    def _prepare_trace(profiler: Any, *args: Any, **kwargs: Any) -> Any:
        if not taps.quiet:
            taps.emit("profiler_begin", profiler)
        return original(profiler, *args, **kwargs)

    return named_like(_prepare_trace, original)


def wrap_worker(taps: Switchboard, original: Any) -> Any:
    """Wrap what a loader's worker runs: one that was forked off is no part of what is profiled."""

    def _worker_loop(*args: Any, **kwargs: Any) -> Any:
        taps.emit("worker_begin")
        return original(*args, **kwargs)

    return named_like(_worker_loop, original)
