"""This file is the judgement of one training step: which of its loss and gradients are not sound, in words."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from torchmagic.api.debugging.usual_training import UsualTraining
from torchmagic.models.gradient_checks import (
    EXPLODED,
    VANISHED,
    GradientStatistics,
    checked_threshold,
    exploded,
    total_norm,
    vanished,
)

LOSS, EXPLOSION, VANISHING = "loss", "explosion", "vanishing"
_MOST_NAMES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What is wrong with a step.

    Args:
        loss: Its loss.
        kinds: Kinds of its anomalies.
        lines: One line each.
        exploded: Parameters beyond the threshold, or not finite.
        vanished: Parameters below the threshold.
    """

    loss: float
    kinds: tuple[str, ...]
    lines: tuple[str, ...]
    exploded: tuple[str, ...]
    vanished: tuple[str, ...]


class Judgement:
    """Judges steps.

    Args:
        explosion_threshold: Norm above which a gradient counts as exploded; None leaves it to what is usual.
        vanishing_threshold: Norm below which a weight's gradient counts as vanished; None likewise.

    Raises:
        ValueError: If a threshold is no number above 0; one line.
    """

    def __init__(self, explosion_threshold: float | None = None, vanishing_threshold: float | None = None) -> None:
        self._asked = explosion_threshold is not None, vanishing_threshold is not None
        self._most = checked_threshold(EXPLODED if explosion_threshold is None else explosion_threshold)
        self._least = checked_threshold(VANISHED if vanishing_threshold is None else vanishing_threshold)

    def of(
        self,
        loss: float,
        gradients: Mapping[str, GradientStatistics],
        *,
        weights: Collection[str],
        usual: UsualTraining,
        is_scaled: bool,
        looks_at_size: bool,
    ) -> Judged:
        """Judge a step.

        Args:
            loss: Its loss.
            gradients: Statistics of its gradients, by parameter name.
            weights: Names of the parameters with two dimensions or more: a bias before a normalisation has none.
            usual: What the steps before were like; this one is taken in.
            is_scaled: Whether a scaler will skip the step if a gradient is not finite.
            looks_at_size: Whether the size of gradients counts, and not only whether they are finite.
        """
        beyond = exploded(gradients, self._most)
        below = vanished(gradients, self._least) if looks_at_size else []
        is_finite = all(each.is_finite for each in gradients.values())
        found = [*_of_loss(loss, usual)]
        if not is_finite and not is_scaled:
            found.append((EXPLOSION, _nonfinite_words(gradients)))
        if is_finite and looks_at_size:
            found += self._of_size(gradients, weights, usual, beyond, below)
        return Judged(
            loss=loss,
            kinds=tuple(dict.fromkeys(kind for kind, _ in found)),
            lines=tuple(line for _, line in found),
            exploded=tuple(beyond if looks_at_size else _broken(gradients)),
            vanished=tuple(below),
        )

    def _of_size(
        self,
        gradients: Mapping[str, GradientStatistics],
        weights: Collection[str],
        usual: UsualTraining,
        beyond: Sequence[str],
        below: Sequence[str],
    ) -> Iterator[tuple[str, str]]:
        total = total_norm(gradients)
        is_out_of_proportion = usual.explodes(total)
        if beyond and (self._asked[0] or is_out_of_proportion):
            yield EXPLOSION, f"gradients explode: norm {total:.3g}, above {self._most:g} in {_listed(beyond)}"
        lost = [name for name in below if name in weights]
        norms = [each.norm for name, each in gradients.items() if name in weights and each.elements]
        if lost and (self._asked[1] or usual.vanishes(norms)):
            yield VANISHING, f"gradients vanish: norm below {self._least:g} in {_listed(lost)}"


def _of_loss(loss: float, usual: UsualTraining) -> Iterator[tuple[str, str]]:
    level = usual.spike(loss)
    if not math.isfinite(loss):
        yield LOSS, f"the loss is {'NaN' if math.isnan(loss) else 'infinite'}"
    elif level is not None:
        yield LOSS, f"the loss jumps to {loss:.3g}, from about {level:.3g}"


def _broken(gradients: Mapping[str, GradientStatistics]) -> list[str]:
    return [name for name, each in gradients.items() if not each.is_finite]


def _nonfinite_words(gradients: Mapping[str, GradientStatistics]) -> str:
    counts = {
        "NaN": sum(each.nans for each in gradients.values()),
        "infinite": sum(each.infs for each in gradients.values()),
    }
    words = " and ".join(f"{number:,} {kind}" for kind, number in counts.items() if number)
    return f"gradients are not finite: {words} in {_listed(_broken(gradients))}"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
