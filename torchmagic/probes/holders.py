"""This file finds tensors that the notebook itself keeps: in its numbered outputs, and in the last traceback."""

import re
import sys
from collections.abc import Iterator, Mapping
from types import FrameType, TracebackType
from typing import Any

import torch

from torchmagic.probes.graph_walk import MOST_NODES, saved, walk
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.storages import Block, Ledger, blocks_of, tensors_in
from torchmagic.probes.taps import Taps
from torchmagic.probes.variables import variables
from torchmagic.records.memory import HolderRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.genuine import is_genuine

# A tensor smaller than this is told of only when it keeps a graph alive.
LARGE = 1 << 20
MOST_RECORDS, MOST_FRAMES, MOST_LOCALS = 16, 64, 256
_OUTPUT = re.compile(r"_{1,3}|_\d+")


class Holders:
    """Records ``HolderRecord``, the largest first, once the run is over.

    Args:
        namespace: The user's names, in which IPython keeps ``Out``, ``_``, ``__``, ``___`` and ``_1``, ``_2``, ...
    """

    flush = nothing_waits

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self._namespace = namespace
        self._recorder: Recorder | None = None

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Nothing to listen for."""
        self._recorder = recorder

    def detach(self) -> None:
        """Look at what is kept."""
        recorder, self._recorder = self._recorder, None
        if recorder is None:
            return
        ledger, left = Ledger(), MOST_NODES
        kept = []
        for name, keeper, value in self._kept():
            nodes = walk(value, most=left).nodes if value.grad_fn is not None and left > 0 else []
            left -= len(nodes)
            kept.append((name, keeper, value, ledger.claim([value, *saved(nodes).tensors])))
        kept = [each for each in kept if each[3] >= LARGE or (each[3] and each[2].grad_fn is not None)]
        if not kept:
            return
        kept.sort(key=lambda each: -each[3])
        named = self._named()
        for name, keeper, value, size in kept[:MOST_RECORDS]:
            recorder.add(_record(name, keeper, value, size, named))

    def _kept(self) -> Iterator[tuple[str, str, torch.Tensor]]:
        """Yield what keeps tensors: its name, which keeper it is, the tensor."""
        outputs = self._namespace.get("Out")
        if isinstance(outputs, dict):
            for number, value in list(outputs.items()):
                yield from ((f"Out[{number!r}]", "output", each) for each in tensors_in(value))
        for name, value in list(self._namespace.items()):
            # IPython puts the same result into Out: what is there already is told, and another value is the user's own
            again = isinstance(outputs, dict) and name.strip("_") == ""
            if _OUTPUT.fullmatch(name) and not again and is_genuine(value):
                yield from ((name, "output", each) for each in tensors_in(value))
        for frame in _dead_frames():
            for name, value in list(frame.f_locals.items())[:MOST_LOCALS]:
                label = f"{frame.f_code.co_name}.{name}"
                yield from ((label, "traceback", each) for each in tensors_in(value))

    def _named(self) -> dict[Block, str]:
        """Return the blocks that the user's own variables hold, by variable."""
        found: dict[Block, str] = {}
        for name, value in variables(self._namespace):
            if isinstance(value, torch.Tensor):
                for block in blocks_of(value):
                    found.setdefault(block, name)
        return found


def _record(name: str, keeper: str, tensor: torch.Tensor, size: int, named: dict[Block, str]) -> HolderRecord:
    return HolderRecord(
        name=name,
        keeper=keeper,
        num_bytes=size,
        shape=tuple(tensor.shape),
        dtype=str(tensor.dtype).removeprefix("torch."),
        device=str(tensor.device),
        has_graph=tensor.grad_fn is not None,
        also=next((named[block] for block in blocks_of(tensor) if block in named), ""),
    )


def _dead_frames() -> Iterator[FrameType]:
    """Yield the frames of functions that the last uncaught exception ended, innermost last.

    Only these are read: they are over, so that reading their variables keeps nothing alive that they do not keep.
    """
    running = set()
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        running.add(id(frame))
        frame = frame.f_back
    error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    entry: TracebackType | None = getattr(sys, "last_traceback", None) or getattr(error, "__traceback__", None)
    for _ in range(MOST_FRAMES):
        if entry is None:
            return
        if id(entry.tb_frame) not in running and entry.tb_frame.f_code.co_name != "<module>":
            yield entry.tb_frame
        entry = entry.tb_next
