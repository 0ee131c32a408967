"""This file looks at the values that losses are given, and at the operation that made them."""

from collections.abc import Iterator
from types import FrameType
from typing import Any

import torch

from torchmagic.probes.bootstraps import is_bootstrapped
from torchmagic.probes.loss_graph import Input, differences, fused, squashed_twice, stretched, weights_stretched
from torchmagic.probes.loss_values import (
    CLASS_LOSSES,
    LOG_LOSSES,
    LOGIT_LOSSES,
    PROBABILITY_LOSSES,
    REGRESSIONS,
    measured,
    range_of,
)
from torchmagic.probes.producers import Producers, is_partial, kind_of, nearest, parent_of, parents, through_views
from torchmagic.probes.sites import Site, place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.records.loss import WEIGHTED, BroadcastRecord, LossInputRecord, ProbabilityInputRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.glance import readable

LOOKED_AT = LOG_LOSSES | CLASS_LOSSES | LOGIT_LOSSES | PROBABILITY_LOSSES | REGRESSIONS
# Enough records of a line to convince a rule.
MOST_RECORDS = 6
# The first steps are all looked at, later ones now and then: a cell may have a second loop.
FIRST_STEPS, BETWEEN_LOOKS = 8, 64
# Nodes above a loss among which a loss written by hand, or a logarithm, is searched.
MOST_NODES = 32
# What a logarithm passes through as it is weighted.
WEIGHTING = ("Mul", "Add", "Sub", "Neg", "Div", "Where", "MaskedFill")
LOGARITHMS = ("log_softmax", "log_sigmoid", "log", "logsumexp")


class LossInputs:
    """Records a ``LossInputRecord`` for each of the first batches of a loss that is trained.

    A loss that no event told of is read from the graph, and then stands at the line of the backward.

    Args:
        producers: Tells where the input was made.
    """

    def __init__(self, producers: Producers) -> None:
        self._producers = producers
        self._taps: Taps | None = None
        self._recorder: Recorder | None = None
        self._told: dict[tuple[str, Site | None], int] = {}
        self._heard: set[str] = set()

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for losses and backward passes."""
        self._taps, self._recorder = taps, recorder
        taps.on("loss", self._loss)
        taps.on("backward_begin", self._backward)

    def flush(self, step: int) -> None:
        """Rest after the first steps, and look again now and then."""
        self._heard.clear()
        if step >= FIRST_STEPS and self._taps is not None:
            self._taps.rest(self, until=step - step % BETWEEN_LOOKS + BETWEEN_LOOKS)

    def detach(self) -> None:
        """Let go of everything."""
        self._told.clear()

    def _loss(self, name: str, args: Any, kwargs: Any, output: Any, frame: FrameType) -> None:
        if name not in LOOKED_AT or not isinstance(output, torch.Tensor) or not output.requires_grad:
            return
        self._heard.add(name)
        given = args[0] if args else kwargs.get("input", kwargs.get("log_probs"))
        target = args[1] if len(args) > 1 else kwargs.get("target", kwargs.get("targets"))
        site = site_of(frame)
        if readable(given) and self._may_record(name, site):
            self._record(Input(name, given.grad_fn, given, target if isinstance(target, torch.Tensor) else None), site)

    def _backward(self, tensors: Any, frame: FrameType) -> None:
        """Read from the graph what no event told of."""
        heard, self._heard = self._heard, set()
        if not isinstance(tensors, torch.Tensor) or self._recorder is None:
            return
        nodes = list(nearest(tensors.grad_fn, MOST_NODES))
        site = site_of(frame)
        if not heard:
            for found in fused(nodes):
                if readable(found.given) and self._may_record(found.loss, site):
                    self._record(found, site)
        if not heard & REGRESSIONS:
            for found in differences(nodes):
                if self._may_record(found.loss, None):
                    self._record(found, None)
        weighted = weights_stretched(nodes)
        if weighted is not None and self._may_record("stretched", site):
            self._stretched(WEIGHTED, weighted, site)
        if not heard & (CLASS_LOSSES | LOGIT_LOSSES | PROBABILITY_LOSSES):
            self._look_by_hand(nodes, site, heard)

    def _look_by_hand(self, nodes: list[Any], site: Site | None, heard: set[str]) -> None:
        """Look at a loss that was written by hand, or not seen: what was squashed twice, or stretched."""
        twice = squashed_twice(nodes)
        if twice is not None and self._may_record("by hand", site):
            self._squashed(*twice, site)
        wide = stretched(nodes)
        if wide is not None and wide[0] not in heard and self._may_record("stretched", site):
            self._stretched(wide[0], (wide[1], wide[1][:1], wide[2]), site)

    def _stretched(self, loss: str, shapes: tuple[tuple[int, ...], ...], site: Site | None) -> None:
        if self._recorder is not None:
            given, target, joint = shapes
            self._recorder.add(
                BroadcastRecord(
                    step=self._recorder.step,
                    loss=loss,
                    input_shape=given,
                    target_shape=target,
                    output_shape=joint,
                    place=place_of(site),
                )
            )

    def _squashed(self, kind: str, inner: Any, outer: Any, site: Site | None) -> None:
        if self._recorder is None:
            return
        producer, where = self._producers.of(inner)
        place = place_of(self._producers.of(outer)[1] or site)
        if kind == "softmax":
            self._recorder.add(
                ProbabilityInputRecord(
                    step=self._recorder.step,
                    loss="the cross-entropy by hand",
                    rows=int(inner._input_metadata[0].shape[0]),
                    deviation=0.0,
                    place=place,
                    producer=producer,
                    producer_place=place_of(where),
                )
            )
            return
        self._producers.want_bounded()
        self._recorder.add(
            LossInputRecord(
                step=self._recorder.step,
                loss="binary_cross_entropy",
                place=place,
                source=kind,
                inner=kind,
                producer=producer,
                producer_place=place_of(where),
                low=0.0,
                high=1.0,
            )
        )

    def _record(self, found: Input, site: Site | None) -> None:
        node = through_views(found.node, gentle=True)
        kind = kind_of(node)
        last = through_views(found.node)
        if range_of(kind, node) is not None:
            self._producers.want_bounded()
        producer, where = self._producers.of(node)
        given = found.given.detach()
        facts = measured(found.loss, given, found.target, kind, node, clamped=kind_of(last) == "clamp")
        if self._recorder is not None:
            self._recorder.add(
                LossInputRecord(
                    step=self._recorder.step,
                    loss=found.loss,
                    place=place_of(site),
                    source=kind,
                    inner=_weighted(parent_of(node)) if kind == "log" else kind_of(parent_of(node)),
                    producer=producer,
                    producer_place=place_of(where),
                    log_above=found.loss in LOG_LOSSES and _log_above(last),
                    partial=is_partial(found.node, node),
                    bootstrapped=found.loss in REGRESSIONS and is_bootstrapped(found.given, found.target),
                    **facts,
                )
            )

    def _may_record(self, name: str, site: Site | None) -> bool:
        key = (name, site)
        self._told[key] = self._told.get(key, 0) + 1
        return self._told[key] <= MOST_RECORDS


def _log_above(node: Any) -> bool:
    """Whether a logarithm was taken before the multiplications and additions that made an input."""
    return any(kind_of(each) in LOGARITHMS for each in _behind_weights(node))


def _weighted(node: Any) -> str:
    """Return what operation made something, before multiplications and additions, in the words of ``kind_of``."""
    return next((kind for each in _behind_weights(node) if (kind := kind_of(each)) not in ("", "clamp")), "")


def _behind_weights(node: Any) -> Iterator[Any]:
    """Yield the nodes from this one up that multiply, add and choose, and those that these begin with."""
    todo = [node] if node is not None else []
    for each in todo:  # grows as it is gone through
        yield each
        if len(todo) < MOST_NODES and each.name().startswith(WEIGHTING):
            todo += [found for parent in parents(each) if (found := through_views(parent, gentle=True)) is not None]
