"""This file watches steps that a loop makes by hand: weights that change after a backward, without an optimizer."""

import gc
import sys
import weakref
from collections.abc import Sequence
from types import FrameType
from typing import Any

import torch

from torchmagic.probes import graph_walk
from torchmagic.probes.cast import Cast
from torchmagic.probes.listeners import NEVER
from torchmagic.probes.members import ByHand
from torchmagic.probes.names import within
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.reach import Reach
from torchmagic.probes.taps import Taps
from torchmagic.probes.weak_table import WeakTable
from torchmagic.records.loop import HandStepsRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.marks import Marks
from torchmagic.tensors.reduce import is_measurable

# Tensors that are followed, and nodes and times that a graph is searched for them once those known are gone.
MOST_LEAVES, MOST_NODES, MOST_WALKS = 1024, 4096, 16
# Steps of which it is seen whether they go against the gradient, and the share that must for the loop to descend.
MOST_JUDGED, SURELY = 64, 0.8
# So often weights change before steps are counted where an optimizer holds them, which may still step.
PATIENCE = 3


class HandSteps:
    """Tells ``update_begin`` and ``update_end`` around each change that a loop makes by itself to what it trains.

    A step is a change, in place, of tensors that a loss was traced back to, after its backward; it is noticed with the
    next batch, forward, loss or backward. New tensors that take their place count where they lie straight down the
    gradients. Once an optimizer of torch's steps, its steps are those of the run, and nothing is looked for any more.
    Records ``HandStepsRecord`` as a run ends in which none did.

    Args:
        cast: What the tensors are called.
        reach: Knows what a loss is traced back to.
    """

    flush = nothing_waits

    def __init__(self, cast: Cast, reach: Reach) -> None:
        self._cast = cast
        self._taps: Taps | None = None
        self._recorder: Recorder | None = None
        self._stands = ByHand()
        self._built: WeakTable[torch.optim.Optimizer, None] = WeakTable()
        self._marks: Marks | None = None  # while a backward waits for its step
        self._changes = self._steps = self._downhill = 0
        self._patience, self._walks = 1, 0
        self._is_over = False
        reach.lookers.append(self._reached)

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for backward passes, and for what follows a step."""
        self._taps, self._recorder = taps, recorder
        taps.turn.partings.append(self._part)
        for event in ("batch", "epoch", "root_begin", "loss"):
            taps.on(event, self._look)
        taps.on("backward_begin", self._begin)
        taps.on("backward_end", self._await)
        taps.on("optimizer_built", self._meet)
        taps.on("step_begin", self._give_up)

    def detach(self) -> None:
        """Close the last step, say how many there were, and let go of everything."""
        self._look()
        recorder, self._recorder = self._recorder, None
        if recorder is not None and self._steps and not self._is_over:
            names = self._cast.optimizer(self._stands).names
            descends = self._downhill > SURELY * min(self._steps, MOST_JUDGED)
            recorder.add(HandStepsRecord(steps=self._steps, parameters=names, descends=descends))
        self._marks = None
        self._follow(self._stands.leaves)  # others measure once more

    def _part(self) -> None:
        self._marks = None
        self._follow([])

    def _meet(self, optimizer: torch.optim.Optimizer, frame: FrameType) -> None:
        self._built[optimizer] = None

    def _give_up(self, *_: object) -> None:
        """Leave steps to the optimizer; who rests may be woken, and has nothing to follow then."""
        self._is_over = True
        self._part()
        if self._taps is not None:
            self._taps.rest(self, until=NEVER)

    def _reached(
        self, roots: Sequence[torch.Tensor], nodes: Sequence[Any], leaves: Sequence[torch.Tensor], frame: FrameType
    ) -> None:
        """Follow the leaves of a loss: of the tensors that its backward reaches, those that gradients are kept for."""
        if self._is_over:
            return
        known = self._stands.leaves
        met = {id(leaf) for leaf in known}
        new = [leaf for leaf in leaves if id(leaf) not in met and is_measurable(leaf)]
        if new and len(known) + len(new) <= MOST_LEAVES:
            self._follow([*known, *new])
            self._patience = PATIENCE if self._are_owned() else 1

    def _follow(self, leaves: list[torch.Tensor]) -> None:
        self._stands.refs = [weakref.ref(leaf) for leaf in leaves]
        self._cast.stand_in(self._stands)

    def _are_owned(self) -> bool:
        """Whether an optimizer that is known holds one of the tensors."""
        named = [within(each) for _, each in self._cast.names.optimizers(torch.optim.Optimizer)]
        known = [*(each for each, _ in self._built.items()), *named]
        held = {id(each) for one in known for group in one.param_groups for each in group["params"]}
        return any(id(leaf) in held for leaf in self._stands.leaves)

    def _begin(self, tensors: Any, frame: FrameType) -> None:
        """Close the step where weights have changed, in place or by new tensors that took their names."""
        self._look()
        stands = self._stands
        if self._walks >= MOST_WALKS or len(stands.leaves) == len(stands.refs):
            return
        self._walks += 1
        marks, self._marks = self._marks, None
        nodes = graph_walk.walk(tensors, most=MOST_NODES).nodes
        self._follow([leaf for leaf in graph_walk.leaves(nodes) if is_measurable(leaf)][:MOST_LEAVES])
        if marks is not None and marks.lead_down_to(stands.leaves):
            self._close(downhill=True)

    def _await(self, tensors: Any, nanoseconds: int) -> None:
        """Remember the weights as a backward leaves them; whoever measures does so now."""
        leaves = self._stands.leaves
        if not leaves or self._taps is None or self._taps.depth:
            return
        if len(leaves) < len(self._stands.refs):
            self._follow(leaves)
        self._marks = Marks(leaves)
        if self._changes >= self._patience - 1 and self._changes:
            self._tell("update_begin", sys._getframe())

    def _look(self, *_: object) -> None:
        """Close the step where weights have changed since the backward."""
        marks = self._marks
        if marks is None:
            return
        leaves = self._stands.leaves
        if len(leaves) != len(marks) or not marks.differ_from(leaves):
            return
        self._marks = None
        self._close(downhill=self._steps < MOST_JUDGED and marks.lie_uphill_of(leaves))

    def _close(self, *, downhill: bool) -> None:
        self._changes += 1
        if self._changes == 1 and any(_is_grouped(leaf) for leaf in self._stands.leaves[:1]):
            self._patience = PATIENCE
        if self._changes >= self._patience:
            self._steps, self._walks = self._steps + 1, 0
            self._downhill += downhill
            self._tell("update_end", 0)

    def _tell(self, event: str, argument: object) -> None:
        """Tell it to others, who measure: some events that a step is noticed with are told with gradients on."""
        with torch.no_grad():
            for listener in self._taps.listeners.awake[event] if self._taps is not None else ():
                listener(self._stands, argument)


def _is_grouped(leaf: torch.Tensor) -> bool:
    """Whether a tensor is in a group of parameters, as an optimizer holds one, though nobody has a name for it."""
    lists = [holder for holder in gc.get_referrers(leaf) if type(holder) is list]
    # each call looks at every object there is, so that all lists are asked for together
    groups = [holder for holder in gc.get_referrers(*lists) if type(holder) is dict] if lists else []
    return any(group.get("params") is held for group in groups for held in lists)
