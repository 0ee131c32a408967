"""This file looks at what losses are given: shapes that broadcast, probabilities where logits belong."""

from types import FrameType
from typing import Any

import torch

from torchmagic.probes.cast import Cast
from torchmagic.probes.pacing import next_window
from torchmagic.probes.producers import Producers, source_node, through_views
from torchmagic.probes.sites import Site, place_of, site_of
from torchmagic.probes.stretches import has_stretched_subtraction, is_square_of, is_stretched
from torchmagic.probes.taps import Taps
from torchmagic.records.loss import BroadcastRecord, LossRecord, ProbabilityInputRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.near import brought_near
from torchmagic.tensors.presence import plain

# Losses that compare element by element; the other ones have shapes of their own.
ELEMENTWISE = frozenset({
    "binary_cross_entropy_with_logits", "gaussian_nll_loss", "huber_loss", "l1_loss", "mse_loss", "poisson_nll_loss",
    "smooth_l1_loss",
})  # fmt: skip
# Rows that are looked at in a batch: enough to be sure, few enough to cost nothing.
MOST_ROWS, MOST_PIXELS = 64, 16
# The first steps are all looked at, later ones now and then.
FIRST_STEPS, BETWEEN_LOOKS = 16, 16
# Rows of probabilities sum to 1 up to rounding; one of 8 bits (bfloat16) adds up to more than one of 24.
TOLERANCE, HALF_TOLERANCE = 1e-3, 2e-2
# Enough records to convince a rule.
MOST_RECORDS = 8


class Criteria:
    """Records ``LossRecord`` once a line, and each suspicious call up to a limit."""

    def __init__(self, cast: Cast, producers: Producers | None = None) -> None:
        self._cast = cast
        self._producers = producers or Producers(cast)
        self._taps: Taps | None = None
        self._recorder: Recorder | None = None
        self._known: set[tuple[str, Site | None]] = set()
        self._watches_subtractions = False
        self._records: dict[Site | None, int] = {}

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for losses, softmaxes and backward passes."""
        self._taps, self._recorder = taps, recorder
        self._producers.attach(taps)
        taps.on("loss", self._loss)
        taps.on("backward_begin", self._backward)
        taps.on("subtraction", self._subtracted)

    def flush(self, step: int) -> None:
        """Forget the producers of the step's tensors."""
        self._producers.clear()
        if step >= FIRST_STEPS and self._taps is not None:
            self._producers.listen(seen=False)
            if not self._watches_subtractions:
                self._taps.rest(self, until=next_window(step, width=BETWEEN_LOOKS))

    def detach(self) -> None:
        """Let go of everything."""
        self._producers.clear()
        self._producers.listen(seen=False)
        if self._taps is not None:
            self._taps.see("subtraction", seen=False)

    def _loss(self, name: str, args: Any, kwargs: Any, output: Any, frame: FrameType) -> None:
        given = args[0] if args else kwargs.get("input")
        target = args[1] if len(args) > 1 else kwargs.get("target")
        if not isinstance(given, torch.Tensor) or not isinstance(target, torch.Tensor):
            return
        site = site_of(frame)
        if (name, site) not in self._known:
            self._known.add((name, site))
            self._add(_loss_record(name, given, target, kwargs, site))
        if name in ELEMENTWISE and given.shape != target.shape:
            self._compare_shapes(name, given, target, site)
        if name == "cross_entropy" and given.requires_grad:
            self._check_probabilities(name, given, site)
        elif name == "nll_loss" and given.requires_grad:
            self._check_softmax_twice(name, given, site)

    def _compare_shapes(self, name: str, given: torch.Tensor, target: torch.Tensor, site: Site | None) -> None:
        try:
            joint = torch.broadcast_shapes(given.shape, target.shape)  # type: ignore[no-untyped-call] # torch
        except RuntimeError:
            return
        wide = joint.numel() > max(given.numel(), target.numel()) or is_square_of(given.shape, target.shape)
        if wide and self._may_record(site):
            self._stretched(name, given, target, joint, site)

    def _check_probabilities(self, name: str, given: torch.Tensor, site: Site | None) -> None:
        dim = 1 if given.dim() > 1 else 0
        if given.shape[dim] < 2 or not given.numel():  # noqa: PLR2004 - one class sums to itself
            return
        values = plain(given)
        if values is None:
            return
        rows = brought_near(_few(values, dim)).float()
        tolerance = HALF_TOLERANCE if given.dtype in (torch.float16, torch.bfloat16) else TOLERANCE
        low, high = torch.aminmax(rows)
        if not (low.item() >= 0.0 and high.item() <= 1.0 + tolerance):
            return
        deviation = (rows.sum(dim) - 1.0).abs().max().item()
        if deviation <= tolerance:
            node = source_node(given, gentle=True)
            self._add_probabilities(name, node, site, num_rows=rows.numel() // rows.shape[dim], deviation=deviation)

    def _check_softmax_twice(self, name: str, given: torch.Tensor, site: Site | None) -> None:
        """``nll_loss(log_softmax(softmax(x)))`` is cross-entropy on probabilities, written out."""
        node = source_node(given)
        if node is None or not node.name().startswith("LogSoftmax"):
            return
        inner = through_views(node.next_functions[0][0])
        if inner is not None and inner.name().startswith("Softmax"):
            self._add_probabilities(name, inner, site, num_rows=given.shape[0], deviation=0.0)

    def _add_probabilities(self, name: str, node: Any, site: Site | None, *, num_rows: int, deviation: float) -> None:
        if not self._may_record(site):
            return
        producer, where = self._producers.of(node)
        self._add(
            ProbabilityInputRecord(
                step=self._step,
                loss=name,
                rows=num_rows,
                deviation=deviation,
                place=place_of(site),
                producer=producer,
                producer_place=place_of(where),
            )
        )

    def _backward(self, tensors: Any, frame: FrameType) -> None:
        """Look for a stretched subtraction above the loss, and, when there is one, watch the next step's."""
        if self._taps is None or not isinstance(tensors, torch.Tensor):
            return
        self._watches_subtractions = has_stretched_subtraction(tensors)
        self._taps.see("subtraction", seen=self._watches_subtractions)

    def _subtracted(self, left: Any, right: Any, output: torch.Tensor, frame: FrameType) -> None:
        if not isinstance(left, torch.Tensor) or not isinstance(right, torch.Tensor) or self._cast.current is None:
            return
        if not self._watches_subtractions:
            return  # it is another probe that they are shown to
        if left.requires_grad == right.requires_grad:
            return
        given, target = (left, right) if left.requires_grad else (right, left)
        if is_stretched(given, target, output):
            site = site_of(frame)
            if self._may_record(site):
                self._stretched("subtraction", given, target, output.shape, site)

    def _stretched(self, loss: str, given: torch.Tensor, target: torch.Tensor, joint: torch.Size, site: Any) -> None:
        self._add(
            BroadcastRecord(
                step=self._step,
                loss=loss,
                input_shape=tuple(given.shape),
                target_shape=tuple(target.shape),
                output_shape=tuple(joint),
                place=place_of(site),
            )
        )

    @property
    def _step(self) -> int:
        return self._recorder.step if self._recorder is not None else 0

    def _may_record(self, site: Site | None) -> bool:
        self._records[site] = self._records.get(site, 0) + 1
        return self._records[site] <= MOST_RECORDS

    def _add(self, record: object) -> None:
        if self._recorder is not None:
            self._recorder.add(record)


def _loss_record(name: str, given: torch.Tensor, target: torch.Tensor, kwargs: Any, site: Site | None) -> LossRecord:
    return LossRecord(
        name=name,
        input_shape=tuple(given.shape),
        target_shape=tuple(target.shape),
        reduction=str(kwargs.get("reduction", "mean")),
        place=place_of(site),
    )


def _few(tensor: torch.Tensor, dim: int) -> torch.Tensor:
    """Return a corner of a batch that is whole along ``dim``."""
    for other in range(tensor.dim()):
        if other != dim:
            tensor = tensor.narrow(other, 0, min(tensor.shape[other], MOST_ROWS if other == 0 else MOST_PIXELS))
    return tensor
