"""This file is what is usual in one model's training, to tell steps that stand out from it."""

import math
from collections import deque
from collections.abc import Collection
from itertools import pairwise
from statistics import median

import numpy as np

from torchmagic.analyses.improvement import DEVIATION
from torchmagic.analyses.spikes import WINDOW, spikes
from torchmagic.models.gradient_checks import VANISHED
from torchmagic.probes.outliers import Outliers
from torchmagic.rules.numerics.exploding_gradient import LARGE
from torchmagic.rules.numerics.vanishing_gradient import MOST_IMPROVEMENT

# Losses at the beginning and at the end whose medians are compared.
FEW = 5
# A loss that is so many times the first ones has got worse, whatever the noise.
TIMES_WORSE = 2.0
# Gradients are lost on their way back in layers, not in a single weight of many.
LEAST_SHARE = 0.1


class UsualTraining:
    """Remembers a few numbers of the steps before; it holds neither model nor tensors."""

    def __init__(self) -> None:
        self._losses: deque[float] = deque(maxlen=WINDOW)
        self._first: list[float] = []
        self._norms, self._levels = Outliers(), Outliers()

    @property
    def losses(self) -> list[float]:
        """The last finite losses, oldest first."""
        return list(self._losses)

    def spike(self, loss: float) -> float | None:
        """Take in a loss; return the level that it stands far above, or None.

        Judged as by the rule loss-spike: a loss that is not positive, or has come down to nothing, has no spikes. It
        must also stand out on a log scale: losses of tiny batches differ by factors of a hundred and more.
        """
        if not math.isfinite(loss):
            return None
        before, far = [*self._losses], self._levels.is_far(loss)
        self._losses.append(loss)
        self._first = [*self._first, loss] if len(self._first) < FEW else self._first
        if len(before) < WINDOW or not far:
            return None
        found = spikes(np.array([*before, loss]), self._first[0])
        return float(found.level[0]) if found.is_high[0] else None

    def explodes(self, norm: float) -> bool:
        """Take in a step's total gradient norm; tell whether it is out of proportion.

        The size of gradients depends on how a loss is scaled: one that is large from the beginning, as that of a sum
        over samples, says nothing. Out of proportion is what is very large and stands far above the norms before it, or
        comes with a loss that has got worse.
        """
        if not math.isfinite(norm):
            return True
        far = self._norms.is_far(norm)
        return norm > LARGE and (far or self._has_risen())

    def vanishes(self, weights: Collection[float]) -> bool:
        """Tell whether gradients are lost on their way back.

        Args:
            weights: Norms of the gradients of all weights.
        """
        loss = abs(self._losses[-1]) if self._losses else 0.0
        if not weights or not loss or self._has_fallen():
            return False
        if not any(weights):
            return True
        # What gets no gradient at all is unused or dead; near a loss of zero all gradients are small.
        lost = [norm for norm in weights if 0 < norm < VANISHED * min(1.0, loss)]
        return len(lost) >= max(1, LEAST_SHARE * len(weights))

    def _has_risen(self) -> bool:
        first = median(self._first) if self._first else math.inf
        return bool(self._losses) and self._losses[-1] > first + (TIMES_WORSE - 1) * abs(first)

    def _has_fallen(self) -> bool:
        """Whether the loss has come down, by more than its noise: as the rule vanishing-gradient asks."""
        losses = [*self._losses]
        if len(losses) <= FEW:
            return False
        typical = median(abs(after - before) for before, after in pairwise(losses))
        first, noise = median(self._first), DEVIATION * typical / math.sqrt(FEW)
        return median(losses[-FEW:]) < first - MOST_IMPROVEMENT * abs(first) - 2 * noise
