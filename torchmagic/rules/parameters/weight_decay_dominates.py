"""Weight decay pulls harder at the weights than the gradients do, and shrinks them to nothing.

*Symptom*: the weights of a group fall towards zero, outputs become constant, and the loss does not improve.

*Why it happens*: a decay of 1 or 10 where 1e-4 to 1e-1 was meant, or a decay tuned for AdamW given to SGD or Adam,
where it adds to the gradient.

*What to try*: lower ``weight_decay`` by factors of ten; give norms and biases none.

*Source*: Loshchilov and Hutter, "Decoupled weight decay regularization", ICLR 2019.
"""

import math
from collections.abc import Iterator, Mapping
from statistics import median

from torchmagic.analyses.loss_curve import loss_curve
from torchmagic.analyses.objective import level_of_guessing
from torchmagic.analyses.optimizer_lines import built_with, place_of_setting
from torchmagic.analyses.relative_updates import GroupUpdates, group_updates
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.objective import GroupRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Decay over gradient in the update, and fall of the length of the weights (catalogue).
MIN_TIMES = 10.0
MIN_FALL = 10.0
# The same where the model ends at what guessing gets, or hardly anything is left of the weights: weights that vanished
# and know nothing need no more proof.
MIN_TIMES_AT_GUESSING, VANISHED = 2.0, 100.0
# A loss that falls by this share improves all the same, unless that is to where guessing gets.
IMPROVES = 0.05
# And by so many errors of the smoothed loss, which are two of a difference: batches differ.
SURE = 2 * math.sqrt(2)
# A single look is enough: that the weights have vanished says the rest.
MIN_LOOKS = 1


@rule
def weight_decay_dominates(run: Run, *, min_times: float = MIN_TIMES, min_fall: float = MIN_FALL) -> Iterator[Finding]:
    """Report each group whose decay outweighs its gradients while its weights vanish and the loss stays."""
    names = run.subjects("loss")
    curve = loss_curve(run, names[0]) if len(names) == 1 else None
    if curve is None:
        return
    guesses = level_of_guessing(run, curve.end) > 0
    surely = max(IMPROVES * abs(curve.start), SURE * curve.error_of_mean)
    if curve.end < curve.start - surely and not guesses:
        return
    for each in group_updates(run):
        last = float(each.lengths[-1]) if math.isnan(each.last) else each.last
        fall = float(each.lengths[0]) / last if last > 0 else math.inf
        least = min(min_times, MIN_TIMES_AT_GUESSING) if guesses or fall >= VANISHED else min_times
        times = _times(run, each) if each.group.weight_decay > 0 and fall >= min_fall else []
        if len(times) < MIN_LOOKS or median(times) < least:
            continue
        yield Finding(
            rule="weight-decay-dominates",
            severity=Severity.WARNING,
            confidence=0.85,
            title=f"weight decay of {each.group.subject} is {median(times):.3g} times its gradients: the weights "
            f"shrink by a factor of {fall:.3g}",
            optimizer=each.group.optimizer,
            **line_of(place_of_setting(run, each.group, "weight_decay")),
            step=each.group.step,
            evidence={
                "weight decay": each.group.weight_decay,
                "decay over gradient (median)": median(times),
                "threshold": least,
                "length of the weights at first": float(each.lengths[0]),
                "length of the weights at last": last,
            },
            why="Each step takes more away from the weights than it learns; what is left is close to zero.",
            fix=built_with(run, each.group, "weight_decay", 1e-4),
        )


def _times(run: Run, updates: GroupUpdates) -> list[float]:
    """Return by how much the decay outweighs the gradient, until the weights have vanished."""
    group, rate = updates.group, updates.group.lr or 0.0
    found = []
    gradients = {} if group.decoupled else _gradient_lengths(run, group)
    for step, ratio, length in zip(updates.steps.tolist(), updates.ratios, updates.lengths, strict=True):
        if length * MIN_FALL < updates.lengths[0]:
            break
        if group.decoupled:  # what the step did beyond the decay is the gradient's part
            decay = rate * group.weight_decay
            found.append(decay / max(abs(float(ratio) - decay), 1e-12))
        elif step in gradients:
            found.append(group.weight_decay * float(length) / max(gradients[step], 1e-30))
    return found


def _gradient_lengths(run: Run, group: GroupRecord) -> Mapping[int, float]:
    found: dict[int, float] = {}
    for name in group.parameters:
        for step, norm in zip(*run.series("grad_norm", parameter=name), strict=True):
            found[step] = math.hypot(found.get(step, 0.0), norm)
    return found
