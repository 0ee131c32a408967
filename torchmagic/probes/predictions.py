"""This file looks at predictions: how far they differ over a batch, beside how far their targets do."""

import math
from types import FrameType
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from torchmagic.probes.cast import Cast
from torchmagic.probes.pacing import Pacer
from torchmagic.probes.rare_looks import next_rare_look
from torchmagic.probes.taps import Taps
from torchmagic.probes.wrappers import now
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.glance import readable
from torchmagic.tensors.near import brought_near

# Rows and values of each that are looked at; fewer rows say nothing of a batch.
MOST_ROWS, MOST_VALUES, MIN_ROWS = 256, 256, 4
# Losses whose targets are classes, and those whose single value says which of two.
OF_CLASSES = frozenset({"cross_entropy", "nll_loss"})
OF_TWO = frozenset({"binary_cross_entropy", "binary_cross_entropy_with_logits"})
LOGITS = "binary_cross_entropy_with_logits"
# Numbers of classes beyond this are not counted.
MOST_CLASSES = 1 << 17
# A size below this is zero.
SMALLEST = 1e-30
METRICS = ("prediction_spread", "prediction_share", "target_spread", "target_share")


class Predictions:
    """Records what losses are given, a subject for each model and loss, as ``model/loss``.

    ``prediction_spread`` is the standard deviation over the batch as a share of the predictions' own size (root mean
    square), ``target_spread`` that of the targets by the same measure, NaN for classes; ``prediction_share`` and
    ``target_share`` are the shares of the most frequent class, NaN where there are no classes.
    """

    def __init__(self, cast: Cast, taps: Taps, pacer: Pacer) -> None:
        self._cast, self._taps, self._pacer = cast, taps, pacer
        self._recorder: Recorder | None = None
        self._found: dict[str, tuple[float, ...]] = {}
        self._took = 0

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for losses."""
        self._recorder = recorder
        taps.on("loss", self._lost)

    def flush(self, step: int) -> None:
        """Hand over the step's numbers, and rest until the next look."""
        if self._found:
            self._hand_over()
        self._taps.rest(self, until=next_rare_look(step))

    def detach(self) -> None:
        """Let go of everything."""
        self._found = {}
        self._recorder = None

    def _lost(self, name: str, args: Any, kwargs: Any, output: Any, frame: FrameType) -> None:
        model = self._cast.current
        if not self._taps.grad_enabled or model is None:
            return
        given = args[0] if args else kwargs.get("input")
        target = args[1] if len(args) > 1 else kwargs.get("target")
        subject = f"{model.name}/{name}"
        if subject in self._found or not _comparable(given, target):
            return
        began = now()
        with np.errstate(all="ignore"):  # what is not finite is told as it is
            self._found[subject] = _numbers(name, given.detach(), target.detach())
        self._took += now() - began

    def _hand_over(self) -> None:
        began = now()
        subjects, rows = tuple(self._found), tuple(self._found.values())
        self._found = {}
        if self._recorder is not None:
            for place, metric in enumerate(METRICS):
                self._recorder.append(metric, [row[place] for row in rows], subjects)
        self._pacer.pay("predictions", self._took + now() - began)
        self._took = 0


def _comparable(given: Any, target: Any) -> bool:
    """Whether predictions and targets are plain tensors with the same, and enough, rows."""
    if not readable(given) or not given.requires_grad or not given.dim() or given.shape[0] < MIN_ROWS:
        return False
    if type(target) is not torch.Tensor or target.layout is not torch.strided or target.is_complex():
        return False
    return bool(target.dim() and target.shape[0] == given.shape[0] and target.device == given.device)


def _numbers(name: str, given: torch.Tensor, target: torch.Tensor) -> tuple[float, ...]:
    given, target = brought_near(given[:MOST_ROWS]), brought_near(target[:MOST_ROWS])
    values = _rows(given)
    size = max(math.sqrt(float(np.square(values).mean())), SMALLEST)
    spread = _spread(values) / size
    if name in OF_CLASSES and given.dim() > 1 and not target.is_floating_point():
        predicted = given.argmax(1).cpu().numpy()
        return spread, _greatest_share(predicted), math.nan, _greatest_share(target.cpu().numpy())
    wanted = _rows(target)
    target_spread = _spread(wanted) / size
    if name in OF_TWO and given.numel() == given.shape[0] == target.numel():
        positive = values > (0.0 if name == LOGITS else 0.5)
        return spread, _greatest_share(positive), target_spread, _greatest_share(wanted > 0.5)  # noqa: PLR2004 - half
    return spread, math.nan, target_spread, math.nan


def _rows(tensor: torch.Tensor) -> NDArray[np.float64]:
    flat = tensor.reshape(tensor.shape[0], -1)[:, :MOST_VALUES]
    return flat.cpu().double().numpy()


def _spread(values: NDArray[np.float64]) -> float:
    """Return the standard deviation over the rows, of all columns together."""
    apart = (values - values.mean(axis=0)).reshape(-1)
    # numpy's own sum: a product of vectors this long wakes threads of its library, which then wait for more by turning
    return math.sqrt(float(np.square(apart).sum()) / max(apart.size, 1))


def _greatest_share(classes: NDArray[Any]) -> float:
    """Return the share of the most frequent class."""
    flat = classes.reshape(-1)
    if flat.dtype == np.bool_:
        share = float(flat.mean())
        return max(share, 1 - share)
    least, most = int(flat.min()), int(flat.max())
    if most - least > MOST_CLASSES:
        return math.nan
    counts = np.bincount(flat - least)  # one that is to be ignored is below zero
    return float(counts.max() / flat.size)
