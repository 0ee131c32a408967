"""This file looks at losses written by hand: at the prediction and the target that a line takes from each other."""

from types import FrameType
from typing import Any, NamedTuple

import torch

from torchmagic.probes.batch_facts import Facts
from torchmagic.probes.pacing import next_look
from torchmagic.probes.sites import Site, place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.records.data import Source
from torchmagic.records.feeding import DifferenceRecord
from torchmagic.session.recorder import Recorder

# Subtractions of one step that are remembered, and nodes above a loss among which they are searched.
MOST_SUBTRACTIONS, MOST_NODES = 8, 32
NAME = "subtraction"


class _Difference(NamedTuple):
    node: Any
    given: torch.Tensor
    target: torch.Tensor
    site: Site | None


class Differences:
    """Records a ``DifferenceRecord`` a line, and, as ``Facts`` of ``subtraction``, the values of both sides.

    What counts is a subtraction near the end of the graph of which one side needs a gradient and the other does not. It
    is wrapped in the steps looked at only.
    """

    def __init__(self) -> None:
        self._facts = Facts(Source.LOSS)
        self._recorder: Recorder | None = None
        self._taps: Taps | None = None
        self._found: list[_Difference] = []
        self._known: set[Site | None] = set()
        self._next = 0

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for subtractions and backward passes."""
        self._taps, self._recorder = taps, recorder
        taps.on("subtraction", self._subtracted)
        taps.on("backward_begin", self._backward)
        taps.see("subtraction", seen=True)

    def flush(self, step: int) -> None:
        """Look at the next step, or rest until the one before the next look."""
        self._found.clear()
        if self._taps is None:
            return
        if step >= self._next:
            self._next = next_look(step)
        if self._next == step + 1:
            self._taps.see("subtraction", seen=True)
        else:
            self._taps.rest(self, until=self._next - 1)

    def detach(self) -> None:
        """Let go of everything."""
        self._found.clear()
        if self._taps is not None:
            self._taps.see("subtraction", seen=False)

    def _subtracted(self, left: Any, right: Any, output: torch.Tensor, frame: FrameType) -> None:
        both = isinstance(left, torch.Tensor) and isinstance(right, torch.Tensor)
        if not both or left.requires_grad == right.requires_grad or len(self._found) >= MOST_SUBTRACTIONS:
            return
        given, target = (left, right) if left.requires_grad else (right, left)
        if given.grad_fn is not None and target.is_floating_point() and target.dim():
            self._found.append(_Difference(output.grad_fn, given.detach(), target.detach(), site_of(frame)))

    def _backward(self, tensors: Any, frame: FrameType) -> None:
        found, self._found = self._found, []
        if self._taps is None or self._recorder is None:
            return
        self._taps.see("subtraction", seen=False)
        if not found or not isinstance(tensors, torch.Tensor):
            return
        near = _nearest(tensors)
        each = next((each for each in found if each.node in near), None)
        if each is None:
            return
        self._facts.look(self._recorder, NAME, [("input", each.given), ("target", each.target)])
        if each.site not in self._known:
            self._known.add(each.site)
            self._recorder.add(DifferenceRecord(step=self._recorder.step, place=place_of(each.site)))


def _nearest(loss: torch.Tensor) -> list[Any]:
    """Return the nodes nearest to a loss, in order."""
    found: list[Any] = [loss.grad_fn] if loss.grad_fn is not None else []
    for node in found:  # grows as it is gone through
        if len(found) >= MOST_NODES:
            break
        found += [parent for parent, _ in node.next_functions if parent is not None]
    return found
