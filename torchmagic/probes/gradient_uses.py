"""This file watches whether steps use gradients that an earlier step has used already."""

import weakref
from types import FrameType
from typing import Any, NamedTuple

import torch

from torchmagic.probes.cast import Cast
from torchmagic.probes.members import Optimizer
from torchmagic.probes.sites import Site, place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.records.connection import ReusedGradientsRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.reduce import norms

# Gradients that are compared, records, and names in a record.
MOST_COMPARED, MOST_RECORDS, MOST_NAMES = 4, 12, 8
# Steps that are watched without a break, and then from each power of two on.
FIRST, AFTERWARDS = 32, 8


class _Gradient:
    """A gradient that a step used, and how often it had been written by then."""

    __slots__ = ("gradient", "parameter", "version")

    def __init__(self, parameter: weakref.ref[torch.Tensor], gradient: torch.Tensor) -> None:
        self.parameter, self.gradient, self.version = parameter, weakref.ref(gradient), gradient._version

    def parameter_if_same(self) -> torch.Tensor | None:
        """Return the parameter if it still has this very gradient, and nobody wrote it since."""
        parameter = self.parameter()
        gradient = parameter.grad if parameter is not None else None
        same = gradient is not None and gradient is self.gradient() and gradient._version == self.version
        return parameter if same else None


class _Use:
    """The last step of an optimizer: its line, the backward passes before it, and gradients that it used."""

    def __init__(self, entry: Optimizer) -> None:
        self.entry = entry
        self.backwards = -1
        self.site: Site | None = None
        self.gradients: list[_Gradient] = []
        self.lengths: list[float] = []  # of these, where they were made before the run


class _Step(NamedTuple):
    """A step under way."""

    use: _Use
    backwards: int
    site: Site | None
    suspects: list[tuple[_Use, Site | None, list[_Gradient]]]


class GradientUses:
    """Records ``ReusedGradientsRecord`` for a step on gradients that a step before it has used, just as they are."""

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._recorder: Recorder | None = None
        self._taps: Taps | None = None
        self._uses: dict[int, _Use] = {}
        self._compared: dict[int, tuple[Any, list[weakref.ref[torch.Tensor]]]] = {}
        self._pairs: dict[tuple[int, int], int] = {}
        self._backwards = self._records = 0
        self._under_way: list[_Step] = []

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for backward passes and steps."""
        self._recorder, self._taps = recorder, taps
        taps.on("backward_begin", self._backward)
        taps.on("step_begin", self._begins)
        taps.on("step_end", self._ends)

    def flush(self, step: int) -> None:
        """Rest where nothing was found in many steps."""
        began = 1 << (step.bit_length() - 1) if step else 0
        if step >= FIRST and step >= began + AFTERWARDS and not self._under_way and self._taps is not None:
            self._uses.clear()
            self._backwards += 1  # one may run meanwhile
            self._taps.rest(self, until=2 * began)

    def detach(self) -> None:
        """Let go of everything."""
        self._uses.clear()
        self._under_way.clear()

    def _backward(self, tensors: Any, frame: FrameType) -> None:
        self._backwards += 1

    def _begins(self, optimizer: torch.optim.Optimizer, frame: FrameType) -> None:
        entry, count = self._cast.optimizer(optimizer), self._backwards
        use = self._uses.get(id(entry))
        if use is None:
            use = self._uses[id(entry)] = _Use(entry)
        suspects = []
        if not self._under_way and self._records < MOST_RECORDS:  # else of an optimizer that wraps another
            before = [each for each in self._uses.values() if each.backwards == count] if count else [use]
            suspects = [(each, each.site, used) for each in before if (used := self._still_there(each, use))]
        self._under_way.append(_Step(use, count, site_of(frame), suspects))

    def _ends(self, optimizer: torch.optim.Optimizer, nanoseconds: int) -> None:
        if not self._under_way:
            return
        use, count, site, suspects = self._under_way.pop()
        if count == self._backwards:  # no closure made gradients of its own
            for earlier, before, used in suspects:
                self._tell(use, earlier, used, site, before)
        use.backwards, use.site = self._backwards if not self._under_way else -1, site
        use.gradients = [
            _Gradient(ref, gradient)
            for ref in self._chosen(use.entry)
            if (parameter := ref()) is not None and (gradient := parameter.grad) is not None
        ]
        if not self._backwards:
            use.lengths = _lengths(use.gradients)

    @staticmethod
    def _still_there(earlier: _Use, use: _Use) -> list[_Gradient]:
        """Return the gradients of an earlier step that are as they were, and belong to this optimizer as well."""
        found = [each for each in earlier.gradients if each.parameter_if_same() is not None]
        if earlier is use or not found:
            return found
        mine = {id(tensor) for ref in use.entry.refs if (tensor := ref()) is not None}
        return [each for each in found if id(each.parameter()) in mine]

    def _chosen(self, entry: Optimizer) -> list[weakref.ref[torch.Tensor]]:
        """Return a few parameters of an optimizer, first of all such as another optimizer holds too."""
        state = (entry.seen, len(self._uses))
        known = self._compared.get(id(entry))
        if known is not None and known[0] == state:
            return known[1]
        others = {id(ref()) for use in self._uses.values() if use.entry is not entry for ref in use.entry.refs}
        shared = [ref for ref in entry.refs if id(ref()) in others] if others else []
        few = entry.refs[:: len(entry.refs) // MOST_COMPARED or 1]
        chosen = [*shared[:MOST_COMPARED], *few][:MOST_COMPARED]
        self._compared[id(entry)] = (state, chosen)
        return chosen

    def _tell(self, use: _Use, earlier: _Use, used: list[_Gradient], site: Site | None, before: Site | None) -> None:
        moved = [parameter for each in used if (parameter := each.parameter_if_same()) is not None]
        lengths = _lengths(used)
        if self._recorder is None or not any(lengths):
            return
        made_before = not self._backwards
        if made_before and lengths != use.lengths:
            return  # somebody writes them past torch's count of writes, as through ``.data``
        key = (id(use.entry), id(earlier.entry))
        self._pairs[key] = self._pairs.get(key, 0) + 1
        self._records += 1
        named = {id(ref()): name for ref, name in zip(use.entry.refs, use.entry.names, strict=False)}
        theirs = {id(ref()) for ref in earlier.entry.refs}
        self._recorder.add(
            ReusedGradientsRecord(
                optimizer=use.entry.name,
                earlier=earlier.entry.name,
                same=use is earlier,
                step=self._recorder.step,
                parameters=tuple(named[id(each)] for each in moved if id(each) in named)[:MOST_NAMES],
                num_shared=len(theirs & set(named)),
                num_pairs=self._pairs[key],
                place=place_of(site),
                earlier_place=place_of(before),
                made_before=made_before,
            )
        )


def _lengths(used: list[_Gradient]) -> list[float]:
    """Return the norms of gradients that are still their parameters'."""
    held = [parameter.grad for each in used if (parameter := each.parameter_if_same()) is not None]
    gradients = [gradient.detach() for gradient in held if gradient is not None]
    return norms(gradients) if gradients else []
