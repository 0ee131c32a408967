"""This file watches steps that a loop makes by hand: weights that change after a backward, without an optimizer."""

import sys
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any

import torch

from torchmagic.probes import graph_walk
from torchmagic.probes.cast import Cast
from torchmagic.probes.hand_leaves import HandLeaves
from torchmagic.probes.listeners import NEVER
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.reach import Reach
from torchmagic.probes.taps import Taps
from torchmagic.records.loop import HandStepsRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.reduce import is_measurable

# Nodes and times that a graph, or the user's names, are searched for the leaves once those known are gone.
MOST_NODES, MOST_WALKS = 4096, 16
# Steps of which it is seen whether they go against the gradient, and the share that must for the loop to descend.
MOST_JUDGED, SURELY = 64, 0.8
# So often weights change before steps are counted where an optimizer holds them, which may still step.
PATIENCE = 3


class HandSteps:
    """Tells ``update_begin`` and ``update_end`` around each change that a loop makes by itself to what it trains.

    A step is a change, in place, of tensors that a loss was traced back to, after its backward; it is noticed with the
    next batch, forward, loss or backward. New tensors that take their place count where they lie straight down the
    gradients. ``torch.autograd.grad`` and ``torch.func.grad`` count as a backward of what they are asked for. Once an
    optimizer of torch's steps, its steps are those of the run, and nothing is looked for any more.
    Records ``HandStepsRecord`` as a run ends in which none did.

    Args:
        cast: What the tensors are called.
        reach: Knows what a loss is traced back to.
    """

    flush = nothing_waits

    def __init__(self, cast: Cast, reach: Reach) -> None:
        self._taps: Taps | None = None
        self._recorder: Recorder | None = None
        self._leaves = HandLeaves(cast)
        self._changes = self._steps = self._downhill = 0
        self._patience, self._walks = 1, 0
        self._plainly = True  # whether only a step straight down the gradients is one
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
        taps.on("differentiated", self._ask)
        taps.on("derived", self._answer)
        taps.on("functional_begin", self._derive)
        taps.on("optimizer_built", self._meet)
        taps.on("step_begin", self._give_up)

    def detach(self) -> None:
        """Close the last step, say how many there were, and let go of everything."""
        self._look()
        renamed = self._leaves.of_names()
        if renamed and self._leads_to(renamed):
            self._move_to(renamed)
        recorder, self._recorder = self._recorder, None
        if recorder is not None and self._steps and not self._is_over:
            descends = self._downhill > SURELY * min(self._steps, MOST_JUDGED)
            recorder.add(HandStepsRecord(steps=self._steps, parameters=self._leaves.names, descends=descends))
        self._leaves.marks = None
        self._leaves.follow(self._leaves.present)  # others measure once more

    def _part(self) -> None:
        self._leaves.marks = None
        self._leaves.follow([])

    def _meet(self, optimizer: torch.optim.Optimizer, frame: FrameType) -> None:
        self._leaves.built[optimizer] = None

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
        if not self._is_over and self._leaves.follow_only_new([leaf for leaf in leaves if is_measurable(leaf)]):
            self._patience = PATIENCE if self._leaves.are_owned() else 1

    def _begin(self, tensors: Any, frame: FrameType) -> None:
        """Close the step where weights have changed, in place or by new tensors that took their names."""
        self._look()
        if self._walks >= MOST_WALKS or not self._leaves.are_gone:
            return
        self._walks += 1
        nodes = graph_walk.walk(tensors, most=MOST_NODES).nodes
        marks, self._leaves.marks = self._leaves.marks, None
        self._leaves.follow([leaf for leaf in graph_walk.leaves(nodes) if is_measurable(leaf)])
        if marks is not None and marks.lead_down_to(self._leaves.present):
            self._close(downhill=True)

    def _ask(self, tensors: Any, inputs: Sequence[torch.Tensor], frame: FrameType) -> None:
        """Follow the leaves that ``torch.autograd.grad`` is asked for; close the step that led to them."""
        if self._taps is not None and not self._taps.depth and sum(each.numel() for each in tensors) == 1:
            self._turn_to([each for each in inputs if each.is_leaf and each.requires_grad and is_measurable(each)])

    def _derive(self, inputs: Sequence[Any]) -> None:
        """Do the same for a function of tensors, which are new ones in each step.

        Several that move downhill together are weights, by whatever rule; a single one may be a sample.
        """
        asked = [each for each in inputs if is_measurable(each)]
        self._plainly = len(asked) == 1
        self._turn_to(asked)

    def _turn_to(self, asked: list[torch.Tensor]) -> None:
        self._look()
        known = {id(leaf) for leaf in self._leaves.present}
        if not asked or all(id(leaf) in known for leaf in asked):
            return
        moved = self._leaves.in_order(asked)
        if self._leads_to(moved):
            self._move_to(moved)
        elif self._walks < MOST_WALKS:
            self._walks += 1
            self._leaves.marks = None
            self._leaves.follow_only_new(asked)

    def _leads_to(self, others: Sequence[torch.Tensor]) -> bool:
        """Whether other tensors are what a step made of the leaves."""
        marks = self._leaves.marks
        if marks is None or (not self._plainly and self._steps >= PATIENCE):
            return marks is not None and marks.fit(others)
        return marks.lead_down_to(others, plainly=self._plainly)

    def _move_to(self, others: Sequence[torch.Tensor]) -> None:
        """Close a step that made other tensors of the leaves."""
        self._leaves.marks = None
        self._leaves.move_to(others)
        self._close(downhill=True)

    def _await(self, tensors: Any, nanoseconds: int) -> None:
        """Remember the weights as a backward leaves them; whoever measures does so now."""
        if self._taps is not None and not self._taps.depth and self._leaves.present:
            self._mark(None)

    def _answer(self, inputs: Sequence[torch.Tensor], gradients: Sequence[torch.Tensor | None]) -> None:
        """Do the same, with the gradients that came for what was asked."""
        slopes = {id(leaf): slope for leaf, slope in zip(inputs, gradients, strict=True) if slope is not None}
        if any(id(leaf) in slopes for leaf in self._leaves.present):
            self._mark(slopes)

    def _mark(self, slopes: Mapping[int, torch.Tensor] | None) -> None:
        self._leaves.mark(slopes)
        if self._changes >= self._patience - 1 and self._changes:
            stands = self._leaves.stands
            stands.slopes = dict(slopes or {})
            self._tell("update_begin", sys._getframe())
            stands.slopes = {}

    def _look(self, *_: object) -> None:
        """Close the step where weights have changed since the backward."""
        marks = self._leaves.marks
        if marks is not None and self._leaves.have_changed():
            self._leaves.marks = None
            downhill = self._steps < MOST_JUDGED and marks.lie_uphill_of(self._leaves.present)
            self._close(downhill=downhill, in_place=True)

    def _close(self, *, downhill: bool, in_place: bool = False) -> None:
        self._changes += 1
        if self._changes == 1 and in_place and self._leaves.are_grouped():
            self._patience = PATIENCE
        if self._changes >= self._patience:
            self._steps, self._walks = self._steps + 1, 0
            self._downhill += downhill
            self._tell("update_end", 0)

    def _tell(self, event: str, argument: object) -> None:
        """Tell it to others, who measure: some events that a step is noticed with are told with gradients on."""
        if self._taps is None:
            return
        listeners = self._taps.listeners
        listeners.under_way = listeners.awake[event]
        with torch.no_grad():
            for listener in listeners.under_way:
                listener(self._leaves.stands, argument)
