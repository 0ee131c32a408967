"""The targets of a regression are far larger than what the model gives, and it does not get there.

*Symptom*: the loss is in the thousands or millions and falls slowly; predictions stay near zero.

*Why it happens*: a new model answers with numbers around 0. To answer with thousands its last layer has to grow by as
much, a learning rate at a time.

*What to try*: train on ``(y - y.mean()) / y.std()`` and undo it for predictions, or take the logarithm.

*Source*: LeCun et al., "Efficient BackProp", 1998; Schoop et al., UMLAUT, CHI 2021.
"""

import math
from collections.abc import Iterator

from torchmagic.records.feeding import DifferenceRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.loss import LossRecord
from torchmagic.records.model import OptimizerRecord
from torchmagic.records.objective import ObjectiveRecord
from torchmagic.records.place import Place
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

LOSSES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "subtraction")
# Scale of the targets over that of the first outputs, or by itself.
MIN_RATIO, MIN_SCALE = 100.0, 1000.0
# Targets of a few units are no hindrance, however small the first outputs are.
LEAST_SCALE = 10.0
# The model has got nowhere while its error is at least so much of the targets.
MIN_ERROR = 0.5
# A shorter run was not meant to get there.
MIN_STEPS = 10


@rule
def target_not_normalised(
    run: Run,
    *,
    min_ratio: float = MIN_RATIO,
    min_scale: float = MIN_SCALE,
    min_error: float = MIN_ERROR,
    min_steps: int = MIN_STEPS,
) -> Iterator[Finding]:
    """Report each regression loss whose targets stay out of the model's reach."""
    if run.steps < min_steps or len(run.of(OptimizerRecord)) > 1:
        return
    if any(each.log_prob for each in run.of(ObjectiveRecord)):  # the returns of a policy grow as it learns
        return
    for loss in LOSSES:
        given, targets = _scales(run, f"{loss}[input]"), _scales(run, f"{loss}[target]")
        if min(len(given), len(targets)) < 2:  # noqa: PLR2004 - begin and end
            continue
        first, last, scale = given[0], given[-1], targets[0]
        far = scale >= LEAST_SCALE and (scale >= min_ratio * first or scale > min_scale)
        error = max(abs(targets[-1] - last), _error(run, loss)) / max(targets[-1], 1e-30)
        if not far or error < min_error:
            continue
        yield Finding(
            rule="target-not-normalised",
            severity=Severity.WARNING,
            confidence=0.85,
            title=f"the targets of {loss} are about {scale:.3g}, the model's first outputs {first:.2g}",
            **line_of(_place(run, loss)),
            step=0,
            evidence={
                "targets, root mean square": scale,
                "first outputs": first,
                "last outputs": last,
                "error at the end, of the targets": f"{error:.0%}",
                "threshold": f"{min_ratio:g} times, or {min_scale:g}",
            },
            why="The last layer has to grow until it gives such numbers, and at the end of the run it still does not.",
            fix="y = (y - y.mean()) / y.std()  # and undo it for predictions",
        )


def _scales(run: Run, subject: str) -> list[float]:
    """Return the root mean square of a tensor at each look."""
    _, means = run.series("batch_mean", name=subject)
    _, deviations = run.series("batch_std", name=subject)
    found = [math.hypot(mean, deviation) for mean, deviation in zip(means, deviations, strict=False)]
    return [value for value in found if math.isfinite(value)]


def _error(run: Run, loss: str) -> float:
    """Return the error at the end where the only loss is a mean of squares, else 0."""
    records = [record for record in run.of(LossRecord) if record.name == loss]
    names = run.subjects("loss")
    if loss != "mse_loss" or len(names) != 1 or any(record.reduction != "mean" for record in records):
        return 0.0
    _, values = run.series("loss", name=names[0])
    tail = sorted(value for value in values[-max(1, len(values) // 10) :] if math.isfinite(value))
    return math.sqrt(max(tail[len(tail) // 2], 0.0)) if tail else 0.0


def _place(run: Run, loss: str) -> Place | None:
    if loss == "subtraction":
        return next((record.place for record in run.of(DifferenceRecord)), None)
    return next((record.place for record in run.of(LossRecord) if record.name == loss), None)
