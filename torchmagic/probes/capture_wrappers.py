"""This file is the wrappers around the graphs in which a device's work is captured, and replayed as one piece.

While work is captured nothing of ours may touch the device: one value that is read, or one stream that is waited for,
invalidates the user's capture.
"""

from typing import Any

import torch

from torchmagic.probes.sites import hide_ours
from torchmagic.probes.wrappers import Switchboard, frame_at, named_like

# The kinds of such graphs that this torch has.
GRAPHS = tuple(
    kind
    for module, name in (("cuda", "CUDAGraph"), ("xpu", "XPUGraph"), ("accelerator", "Graph"))
    if (kind := getattr(getattr(torch, module, None), name, None)) is not None
)
# Torch's compiler captures graphs of its own, of which it is told elsewhere that nothing inside is seen.
_COMPILER = "torch._inductor"


def wrap_capture_begin(taps: Switchboard, original: Any) -> Any:
    """Wrap the beginning of a capture: from here on no event is told."""

    def capture_begin(graph: Any, *args: Any, **kwargs: Any) -> Any:
        begins = not taps.quiet
        if begins:
            taps.quiet = taps.capturing = True
        try:
            return original(graph, *args, **kwargs)
        except BaseException as error:
            hide_ours(error)
            if begins:
                _end(taps)
            raise

    return named_like(capture_begin, original)


def wrap_capture_end(taps: Switchboard, original: Any) -> Any:
    """Wrap the end of a capture: from here on events are told again."""

    def capture_end(graph: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(graph, *args, **kwargs)
        except BaseException as error:
            hide_ours(error)
            raise
        finally:
            _end(taps)

    return named_like(capture_end, original)


def wrap_replay(taps: Switchboard, original: Any) -> Any:
    """Wrap the replay of a graph: nothing inside it can be seen, so at least that it ran is told."""

    def replay(graph: Any, *args: Any, **kwargs: Any) -> Any:
        frame = frame_at(1)
        try:
            output = original(graph, *args, **kwargs)
        except BaseException as error:
            hide_ours(error)
            raise
        if not taps.quiet and not str(frame.f_globals.get("__name__")).startswith(_COMPILER):
            taps.emit("graph_replayed", frame)
        return output

    return named_like(replay, original)


def _end(taps: Switchboard) -> None:
    if taps.capturing:
        taps.capturing = taps.quiet = False
