"""This file counts how often the user's code reads tensors' values on the host, in a few steps."""

import inspect
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import torch
from torch.utils.data import DataLoader

from torchmagic.probes.pacing import LONGEST_LATER, next_look
from torchmagic.probes.sites import Site, place_of
from torchmagic.probes.taps import Taps
from torchmagic.records.feeding import HostReadsRecord
from torchmagic.session.recorder import Recorder

# The first step is not looked at: there loops print, check and warm up.
FIRST_LOOK = 1
_LOADERS = str(Path(inspect.getfile(DataLoader)).parent)
# Frames in which a loader is looked for.
MOST_FRAMES = 32
# Lines told, those with most reads.
MOST_LINES = 8


class HostReads:
    """Records ``host_reads``, the reads in each step that is looked at, and a ``HostReadsRecord`` a line at the end.

    What counts is a read, by the user's own line, of a tensor on an accelerator, or of one that was computed after the
    step's forward began: from a graph, or from its outputs without one, such as a number of right answers. What makes
    the next batch does not count, nor what torch and other libraries read by themselves.
    """

    def __init__(self) -> None:
        self._recorder: Recorder | None = None
        self._taps: Taps | None = None
        self._forward = self._here = False
        self._calls: dict[CodeType, int] = {}
        self._lines: dict[Site, dict[str, int]] = {}
        self._count = self._num_steps = 0
        self._looks, self._next = False, FIRST_LOOK

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for reads and forwards, from the first look on."""
        self._taps, self._recorder = taps, recorder
        taps.on("host_read", self._read)
        taps.on("root_begin", self._begin)

    def flush(self, step: int) -> None:
        """Hand over the count of a step that was looked at; look at the next one, or rest."""
        if self._taps is None or self._recorder is None:
            return
        if self._looks:
            self._recorder.append("host_reads", (self._count,))
            self._num_steps += 1
            self._next = next_look(step, rest=LONGEST_LATER)  # to replace the methods of tensors costs more than a look
        self._count, self._here = 0, False
        looks = self._next == step + 1
        if looks is not self._looks:
            self._looks = looks
            self._taps.see("host_reads", seen=looks)
        if not looks:
            self._taps.rest(self, until=self._next - 1)

    def detach(self) -> None:
        """Hand over the lines, and let go of everything."""
        if self._taps is not None:
            self._taps.see("host_reads", seen=False)
        recorder, self._recorder = self._recorder, None
        if recorder is None or not self._num_steps:
            return
        for site in sorted(self._lines, key=lambda each: -sum(self._lines[each].values()))[:MOST_LINES]:
            methods = self._lines[site]
            recorder.add(
                HostReadsRecord(
                    num_reads=sum(methods.values()),
                    num_steps=self._num_steps,
                    methods=tuple(methods),
                    place=place_of(site),
                )
            )

    def _begin(self, module: Any, args: Any, kwargs: Any, frame: FrameType) -> None:
        if self._taps is None or self._taps.grad_enabled:
            if not self._here:
                self._calls = {each.f_code: each.f_lineno for each in _stack(frame)}
            self._forward = self._here = True

    def _read(self, tensor: torch.Tensor, method: str, frame: FrameType) -> None:
        if tensor.device.type == "cpu":
            if method in ("cpu", "__index__") or not (tensor.grad_fn is not None or self._forward):
                return
            if tensor.grad_fn is None and (tensor.requires_grad or tensor._base is not None or _is_loading(frame)):
                return  # a parameter, a part of a larger tensor such as the labels, or what prepares a sample
            if tensor.grad_fn is None and not self._here and self._prepares(frame):
                return
        self._count += 1
        methods = self._lines.setdefault(Site(frame.f_code, frame.f_lineno), {})
        methods[method] = methods.get(method, 0) + 1

    def _prepares(self, frame: FrameType) -> bool:
        """Whether a line between two steps stands before the forward: it makes the next batch."""
        line = next((each for each in _stack(frame) if each.f_code in self._calls), None)
        return line is None or line.f_lineno <= self._calls[line.f_code]


def _is_loading(frame: FrameType) -> bool:
    """Whether a loader fetches a batch in this process: what a data set's transforms read waits for nothing."""
    return any(each.f_code.co_filename.startswith(_LOADERS) for each in _stack(frame))


def _stack(frame: FrameType) -> Iterator[FrameType]:
    """Give a frame and those that called it, up to so many."""
    each: FrameType | None = frame
    for _ in range(MOST_FRAMES):
        if each is None:
            return
        yield each
        each = each.f_back
