"""This file watches optimizers that a line builds again and again over the same parameters."""

import weakref
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch

from torchmagic.probes.cast import Cast
from torchmagic.probes.construction_lines import builder_of, lines_of, places_of
from torchmagic.probes.members import present
from torchmagic.probes.module_parts import buffers_of, parameters_of
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.sites import Site
from torchmagic.probes.taps import Taps
from torchmagic.records.loop import RebuiltOptimizerRecord
from torchmagic.session.recorder import Recorder

# Parameters that are compared, and lines that are followed.
FEW, MOST_LINES = 8, 32
# Steps after which no more are counted, once two passes are known, or where there are none.
MANY_STEPS, FOR_GOOD = 64, 1 << 40
# Fewer instances are told of nowhere.
LEAST_BUILT = 3
# Keeps something of the size of its parameters, but is meant to be built when its problem has changed.
STATELESS = ("LBFGS",)


class _Counter:
    """Counts steps; it rests while the newest optimizers have made so many that no more need be known."""

    def __init__(self, count: Callable[[torch.optim.Optimizer], bool]) -> None:
        self._count = count
        self._taps: Taps | None = None

    def attach(self, taps: Taps) -> None:
        """Listen for steps."""
        self._taps = taps
        taps.on("step_end", self._stepped)

    def wake(self) -> None:
        """Count again, from the next step on."""
        if self._taps is not None:
            self._taps.listeners.wake_up(self)

    def _stepped(self, optimizer: torch.optim.Optimizer, nanoseconds: int) -> None:
        if not self._count(optimizer) and self._taps is not None:
            self._taps.rest(self, until=FOR_GOOD)


class _Line:
    """Optimizers that one line built over the same parameters, one after the other."""

    def __init__(self, lines: tuple[Site, ...], some: list[torch.Tensor], count: int) -> None:
        self.lines, self.count = lines, count
        self.parameters = [weakref.ref(each) for each in some]
        self.buffers: list[weakref.ref[torch.Tensor]] | None = None  # of their model, once one has stepped
        self.name = self.class_name = ""
        self.keeps_state = self.closed = False
        self.steps: list[int] = []  # of each that stepped
        self.passes: list[int] = []
        self.before: Counter[int] = Counter()
        self.settings: set[str] = set()

    def has(self, some: list[torch.Tensor], count: int) -> bool:
        """Whether these are the same parameter objects."""
        if self.closed or self.count != count:
            return False
        return all(ref() is each for ref, each in zip(self.parameters, some, strict=True))


class Rebuilding:
    """Records ``RebuiltOptimizerRecord`` as the run ends, for each line that built three or more.

    Parameters that were loaded or initialised anew since count as new ones, and so do those of a model that got other
    buffers, as pruning gives it a new mask.
    """

    flush = nothing_waits

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._recorder: Recorder | None = None
        self._taps: Taps | None = None
        self._lines: list[_Line] = []
        self._line_of: dict[int, _Line] = {}
        self._passes: Counter[int] = Counter()
        self._counter = _Counter(self._counts)

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for optimizers that are built, and, once there is one, for their steps."""
        self._taps, self._recorder = taps, recorder
        taps.on("optimizer_built", self._built)
        taps.on("weights_set", self._renewed)
        taps.on("epoch", self._begins_pass)

    def detach(self) -> None:
        """Hand over what was built again and again."""
        recorder, self._recorder = self._recorder, None
        if recorder is not None:
            for line in self._lines:
                self._close(line)
                if len(line.steps) >= LEAST_BUILT:
                    recorder.add(_record(line))
        self._lines.clear()
        self._line_of.clear()

    def _built(self, optimizer: torch.optim.Optimizer, frame: FrameType) -> None:
        if self._taps is not None and not self._lines:
            self._counter.attach(self._taps)
        self._counter.wake()
        tensors = [p for group in optimizer.param_groups for p in group["params"]]
        some, lines = tensors[:: len(tensors) // FEW or 1], lines_of(optimizer, frame)
        line = next((each for each in self._lines if each.lines == lines and each.has(some, len(tensors))), None)
        if line is not None and line.buffers is not None and not _same(line.buffers, self._buffers(line)):
            line.closed, line = True, None
        if line is None:
            if len(self._lines) >= MOST_LINES:
                self._lines.pop(0)
            line = _Line(lines, some, len(tensors))
            self._lines.append(line)
        self._close(line)
        line.before = self._passes.copy()
        self._line_of = {key: each for key, each in self._line_of.items() if each is not line}
        self._line_of[id(optimizer)] = line

    def _close(self, line: _Line) -> None:
        """Take note of how many passes the newest of a line has lived for."""
        if len(line.passes) < len(line.steps):
            line.passes.append(self._passes_of(line))

    def _passes_of(self, line: _Line) -> int:
        """Return how many passes the newest of a line has lived for."""
        return max((count - line.before[key] for key, count in self._passes.items()), default=0)

    def _counts(self, optimizer: torch.optim.Optimizer) -> bool:
        """Count a step; whether more have to be."""
        line = self._line_of.get(id(optimizer))
        if line is None:
            return any(len(each.steps) == len(each.passes) for each in self._line_of.values())
        self._count(line, optimizer)
        known = (each for each in self._line_of.values() if each is not line)
        long = line.steps[-1] >= MANY_STEPS and (not self._passes or self._passes_of(line) > 1)
        return not long or any(len(each.steps) == len(each.passes) for each in known)

    def _count(self, line: _Line, optimizer: torch.optim.Optimizer) -> None:
        if len(line.steps) > len(line.passes):
            line.steps[-1] += 1
            return
        line.steps.append(1)
        line.buffers = [weakref.ref(each) for each in self._buffers(line)]
        line.name, line.class_name = self._cast.optimizer(optimizer).name, type(optimizer).__name__
        line.keeps_state = line.keeps_state or _keeps_state(optimizer)
        settings = {key: value for key, value in optimizer.param_groups[0].items() if key != "params"}
        line.settings.add(repr(settings))

    def _buffers(self, line: _Line) -> list[torch.Tensor]:
        """Return the buffers of the model that has a line's parameters."""
        first = line.parameters[0]() if line.parameters else None
        for model in present(self._cast.models):
            root = model.ref()
            if root is not None and any(ref() is first for ref in model.parameters.values()):
                return list(buffers_of(root))
        return []

    def _renewed(self, what: Any, frame: FrameType) -> None:
        """Count parameters that got other values as new ones."""
        if not self._lines:
            return
        given = {id(what)} if isinstance(what, torch.Tensor) else {id(each) for each in parameters_of(what)}
        for line in self._lines:
            line.closed = line.closed or any(id(ref()) in given for ref in line.parameters if ref() is not None)

    def _begins_pass(self, loader: Any, iterator: Any, nanoseconds: int, frame: FrameType) -> None:
        self._passes[id(loader.dataset)] += 1


def _same(refs: list[weakref.ref[torch.Tensor]], tensors: list[torch.Tensor]) -> bool:
    return len(refs) == len(tensors) and all(ref() is each for ref, each in zip(refs, tensors, strict=True))


def _keeps_state(optimizer: torch.optim.Optimizer) -> bool:
    """Whether an optimizer that has stepped remembers something for each element of a parameter."""
    if type(optimizer).__name__ in STATELESS:
        return False
    return any(
        isinstance(value, torch.Tensor) and value.dim() > 0
        for state in list(optimizer.state.values())[:FEW]
        for value in state.values()
    )


def _record(line: _Line) -> RebuiltOptimizerRecord:
    return RebuiltOptimizerRecord(
        optimizer=line.name,
        class_name=line.class_name,
        built=len(line.steps),
        keeps_state=line.keeps_state,
        least_steps=min(line.steps),
        most_steps=max(line.steps),
        most_passes=max(line.passes),
        same_settings=len(line.settings) == 1,
        places=places_of(line.lines),
        builder=builder_of(places_of(line.lines)),
    )
