"""This file watches derivatives that are taken without a graph of their own, and which losses they may be part of."""

from dataclasses import replace
from types import FrameType
from typing import Any

from torchmagic.probes.cast import Cast
from torchmagic.probes.derivatives import of_weights
from torchmagic.probes.graph_walk import leaves, walk
from torchmagic.probes.losses import loss_name
from torchmagic.probes.pacing import FIRST_STEPS, next_look
from torchmagic.probes.sites import Site, place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.records.reach import DerivativeRecord
from torchmagic.session.recorder import Recorder

# Lines that are told apart.
MOST_LINES = 16


class DerivativesTaken:
    """Records ``DerivativeRecord`` for each line that takes one of a model in steps whose loss reaches that model too.

    Of what such a gradient is used for nothing is seen here: it has no graph, so that no node tells of it.

    Args:
        cast: Models and optimizers that take part.
    """

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._recorder: Recorder | None = None
        self._taps: Taps | None = None
        self._found: dict[Site, DerivativeRecord] = {}
        self._taken: dict[Site, set[int]] = {}  # in this step, with the parameters that each depends on

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for derivatives and for backward passes."""
        self._taps, self._recorder = taps, recorder
        taps.on("taken_without_graph", self._take)
        taps.on("backward_begin", self._backward)

    def flush(self, step: int) -> None:
        """Forget the step's derivatives; what a loop does in its first steps it does in the others."""
        self._taken.clear()
        if self._taps is not None and step + 1 >= FIRST_STEPS:
            self._taps.rest(self, until=next_look(step))

    def detach(self) -> None:
        """Record what was found, and let go of everything."""
        recorder, self._recorder = self._recorder, None
        if recorder is not None:
            for record in self._found.values():
                recorder.add(record)
        self._found.clear()
        self._taken.clear()

    def _take(self, tensors: Any, inputs: Any, frame: FrameType) -> None:
        site = site_of(frame)
        if site is None or site in self._taken or len(self._taken) >= MOST_LINES:
            return
        if not of_weights(inputs, self._cast.at_work) and (parameters := self._parameters(tensors)):
            self._taken[site] = parameters

    def _backward(self, tensors: Any, frame: FrameType) -> None:
        if not self._taken or self._recorder is None:
            return
        reached = self._parameters(tensors)
        for site in [each for each, parameters in self._taken.items() if not parameters.isdisjoint(reached)]:
            del self._taken[site]
            found = self._found.get(site) or DerivativeRecord(
                place=place_of(site), loss=loss_name(site_of(frame)), step=self._recorder.step, count=0
            )
            self._found[site] = replace(found, count=found.count + 1)

    def _parameters(self, tensors: Any) -> set[int]:
        """Return the identities of the models' parameters that the graph above some tensors ends at."""
        return self._cast.known().keys() & {id(leaf) for leaf in leaves(walk(tensors).nodes)}
