"""This file watches gradients that are reset before any step has used them, so that a step uses only the last ones."""

from collections import Counter
from types import FrameType
from typing import Any

import torch

from torchmagic.probes.cast import Cast
from torchmagic.probes.gradient_readers import any_reads, files_around
from torchmagic.probes.listeners import NEVER
from torchmagic.probes.members import Optimizer, is_lazy
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.sites import Site, place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.probes.wanted_gradients import WantedGradients
from torchmagic.records.loop import DiscardedGradientsRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.reduce import norms

# Steps that are looked at where nothing is discarded, and where something is; parameters that stand for all.
CLEAN_STEPS, MOST_STEPS, FEW = 8, 32, 8


class _Stretch:
    """What happened to an optimizer's gradients from one of its steps to the next."""

    def __init__(self, entry: Optimizer) -> None:
        self.entry = entry
        self.steps = 0
        self.found: Counter[tuple[int, Site, Site, Site | None]] = Counter()
        self.first = 0
        self.suspect = False  # whether something was discarded: from then on it is seen whether weights move meanwhile
        self.begin()

    def begin(self) -> None:
        """Forget the stretch before."""
        self.held: list[tuple[int, int]] = []
        self.wiped, self.mixed = 0, not self.suspect
        self.lengths: list[float] = []
        self.resets: set[Site | None] = set()
        self.backwards: set[Site | None] = set()
        self.thrown: set[Site | None] = set()

    def gradients(self) -> list[tuple[int, int]]:
        """Return identities and versions of some of its gradients."""
        return [(id(p.grad), p.grad._version) for p in self._some() if p.grad is not None]

    def discard(self, reset: Site, backward: Site | None) -> None:
        """Count gradients that a line made and another reset."""
        self.wiped, self.suspect = self.wiped + 1, True
        self.resets.add(reset)
        self.thrown.add(backward)

    def has_nothing_left(self) -> bool:
        """Whether no gradient is left; those of a reset by part may be all that was wanted."""
        grads = [grad for ref in self.entry.refs if (each := ref()) is not None and (grad := each.grad) is not None]
        return not any(norms([each.detach() for each in grads]))

    def measure(self) -> None:
        """Notice weights that move between two backward passes, as where somebody looks around or steps by hand."""
        found = norms([each.detach() for each in self._some()])
        self.mixed = self.mixed or bool(self.lengths and found != self.lengths)
        self.lengths = found

    def _some(self) -> list[torch.Tensor]:
        refs = self.entry.refs
        found = [ref() for ref in refs[:: len(refs) // FEW or 1]]
        return [each for each in found if each is not None and not is_lazy(each)]


class Discarded:
    """Records ``DiscardedGradientsRecord`` as the run, or an optimizer's part in it, ends.

    Gradients count as discarded where one line made them, one ``zero_grad`` reset them, the same line made the next
    ones, no optimizer stepped in between, and the weights stayed as they were. Where another line made the next ones,
    nothing may be left of the first, and nothing but the weights may have got a gradient: those of an input are wanted.
    """

    flush = nothing_waits

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._wanted = WantedGradients(cast)
        self._taps: Taps | None = None
        self._recorder: Recorder | None = None
        self._stretches: dict[int, _Stretch] = cast.at_work.notes(self._tell)
        self._reset: Site | None = None
        self._site: Site | None = None
        self._files: dict[Site | None, tuple[str, ...]] = {}  # around each backward
        self._stepping = False

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for what comes between two steps."""
        self._taps, self._recorder = taps, recorder
        taps.on("reset", self._resets)
        taps.on("clip", self._wanted.clipped)
        taps.on("backward_begin", self._backward_begins)
        taps.on("backward_end", self._backward_ends)
        taps.on("step_begin", self._step_begins)
        taps.on("step_end", self._step_ends)

    def detach(self) -> None:
        """Hand over what was discarded."""
        for each in self._stretches.values():
            self._tell(each)
        self._stretches.clear()
        self._recorder = None

    def _tell(self, stretch: _Stretch) -> None:
        if self._recorder is not None and stretch.found:
            self._recorder.add(self._record(stretch))

    def _record(self, stretch: _Stretch) -> DiscardedGradientsRecord:
        (wiped, backward, reset, kept), steps = stretch.found.most_common(1)[0]
        return DiscardedGradientsRecord(
            optimizer=stretch.entry.name,
            step=stretch.first,
            wiped=wiped,
            count=steps,
            steps=stretch.steps,
            inspected=any_reads(self._files.get(backward, ())),
            backward=place_of(backward),
            reset=place_of(reset),
            kept=place_of(kept),
        )

    def _resets(self, owner: Any, frame: FrameType) -> None:
        self._reset = site_of(frame)

    def _backward_begins(self, tensors: Any, frame: FrameType) -> None:
        if self._stepping:
            return  # a closure resets within the step
        before, self._site = self._site, site_of(frame)
        for each in self._stretches.values():
            if each.suspect and not each.mixed:
                each.measure()
            if self._reset is not None and each.held and each.gradients() != each.held:
                self._discards(each, self._reset, before, frame)
        self._reset = None
        if any(each.suspect for each in self._stretches.values()):
            self._wanted.look(tensors)

    def _discards(self, stretch: _Stretch, reset: Site, before: Site | None, frame: FrameType) -> None:
        stretch.discard(reset, before)
        if before != self._site and (self._wanted.by_others or not stretch.has_nothing_left()):
            stretch.mixed = True
        if self._site not in self._files:
            self._files[self._site] = files_around(frame)

    def _backward_ends(self, tensors: Any, nanoseconds: int) -> None:
        for each in self._stretches.values():
            held = each.gradients()
            if held not in ([], each.held):
                each.held = held
                each.backwards.add(self._site)

    def _step_begins(self, optimizer: torch.optim.Optimizer, frame: FrameType) -> None:
        entry = self._cast.optimizer(optimizer)
        stretch = self._stretches.get(id(entry))
        self._stepping = True
        if stretch is None:
            self._stretches[id(entry)] = _Stretch(entry)
        elif self._recorder is not None:
            stretch.steps += 1
            if stretch.wiped and not stretch.mixed:
                self._count(stretch, self._recorder.step)
        for each in self._stretches.values():
            each.mixed = True  # of its own it is forgotten as the step ends

    def _step_ends(self, optimizer: torch.optim.Optimizer, nanoseconds: int) -> None:
        self._stepping = False
        stretch = self._stretches.get(id(self._cast.optimizer(optimizer)))
        if stretch is not None:
            stretch.begin()
        most = [MOST_STEPS if each.suspect else CLEAN_STEPS for each in self._stretches.values()]
        if self._taps is not None and all(
            each.steps >= enough for each, enough in zip(self._stretches.values(), most, strict=True)
        ):
            self._taps.rest(self, until=NEVER)

    @staticmethod
    def _count(stretch: _Stretch, step: int) -> None:
        if len(stretch.resets) != 1 or len(stretch.thrown) != 1:
            return
        (reset,), (backward,) = stretch.resets, stretch.thrown
        kept = stretch.backwards - stretch.thrown
        if reset is not None and backward is not None and None not in kept and len(kept) <= 1:
            stretch.first = stretch.first if stretch.found else step
            stretch.found[stretch.wiped, backward, reset, next(iter(kept), None)] += 1
