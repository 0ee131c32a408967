"""One step's loss stands far above those before it.

*Symptom*: a single peak in an otherwise calm curve, from which training has to recover.

*Why it happens*: a batch with outliers or wrong labels, a step that went too far, half precision near its limit.

*What to try*: look at the batch of that step; clip gradients; lower the learning rate or raise Adam's second beta.

*Source*: Chowdhery et al., "PaLM", 2022 (loss spikes); Takase et al., "Spike no more", 2023.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from torchmagic.analyses.model_names import parameters_in
from torchmagic.analyses.objective import begins_anew, single_objective
from torchmagic.analyses.rates import searches_rate
from torchmagic.analyses.spikes import MIN_DEVIATIONS, MIN_TIMES, WINDOW, rows_at, spikes
from torchmagic.records.clipping import ClippingLineRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.loss import BackwardRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run


@rule
def loss_spike(run: Run, *, min_deviations: float = MIN_DEVIATIONS, min_times: float = MIN_TIMES) -> Iterator[Finding]:
    """Report the largest loss that is far outside of what the steps before it were like."""
    objective = single_objective(run)
    if objective is None or len(objective.losses) > 1 or objective.sign != 1:
        return
    if begins_anew(run) or searches_rate(run):
        return
    steps, raw = run.series("loss", name=objective.losses[0])
    values = np.asarray(raw)
    if not run.steps or len(values) <= WINDOW or not np.isfinite(values).all():
        return
    rows = rows_at(run, objective.losses[0], steps)
    high, level, spread = spikes(
        values, float(values[0]), rows=rows, min_deviations=min_deviations, min_times=min_times
    )
    high = high & ~_has_other_targets(run, np.asarray(steps))
    after = values[WINDOW:]
    if not high.any():
        return
    where = int(np.argmax(np.where(high, after / np.maximum(level, 1e-12), 0.0)))
    backward = next(iter(run.of(BackwardRecord)), None)
    yield Finding(
        rule="loss-spike",
        severity=Severity.INFO,
        confidence=0.7,
        title=f"the loss jumps to {after[where]:.3g} at step {steps[where + WINDOW]}, from about {level[where]:.3g}",
        **line_of(backward.place if backward else None),
        step=steps[where + WINDOW],
        evidence={
            "loss": float(after[where]),
            f"median of {WINDOW} steps before": float(level[where]),
            "mean deviation": float(spread[where]),
            "threshold": float(level[where] + min_deviations * spread[where]),
            "spikes": int(high.sum()),
        },
        why="The steps before were alike and this one is not: its batch differs, or the step before went too far.",
        fix="look at the batch of this step; lower the learning rate, or the bound of the clipping"
        if run.of(ClippingLineRecord)
        else f"torch.nn.utils.clip_grad_norm_({parameters_in(run)}, 1.0)  # and look at the batch of this step",
    )


def _has_other_targets(run: Run, steps: NDArray[np.int_]) -> NDArray[np.bool_]:
    """Return whether each value is one to other targets than those before: a network that gives them was changed."""
    moves = np.asarray(run.series("answers_moved")[0], dtype=int)
    begun, reached = (np.searchsorted(moves, each, side="right") for each in (steps[:-WINDOW], steps[WINDOW:]))
    return reached > begun
