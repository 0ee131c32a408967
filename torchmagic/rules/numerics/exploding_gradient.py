"""Gradients grow out of all proportion.

*Symptom*: the loss jumps, becomes huge, then NaN.

*Why it happens*: a step size that overshoots, a deep or recurrent chain whose factors are above one, unnormalised data,
or gradients that add up over steps.

*What to try*: lower the learning rate, clip (``torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)`` before the
step), normalise inputs and targets, look at the initialisation.

*Source*: Pascanu et al., "On the difficulty of training recurrent neural networks", ICML 2013; Zhang et al.,
AUTOTRAINER, ICSE 2021.
"""

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from statistics import median

from torchmagic.analyses.breakdown import sound_part
from torchmagic.analyses.model_names import parameters_in
from torchmagic.analyses.objective import last_beginning
from torchmagic.analyses.rates import searches_rate
from torchmagic.analyses.trainings import Stretch, stretches
from torchmagic.records.clipping import ClippingLineRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.loop import HandStepsRecord
from torchmagic.records.loss import BackwardRecord, LossRecord
from torchmagic.records.nonfinite import Birth, NonfiniteRecord
from torchmagic.records.place import Place
from torchmagic.records.precision import Deed, ScaledGradientsRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Norms below this are no explosion, whatever came before (AUTOTRAINER and SageMaker use 70 to 1e3).
LARGE = 1e3
# A norm this many times the run's own median stands out of any noise.
TIMES_MEDIAN = 1e3
# Steps in a row over which norm and loss must rise together.
RISING_STEPS = 3
# By how much the norm grows meanwhile: those that are large from the first step on differ less from batch to batch.
MIN_GROWTH = 2.0
MIN_NORMS = 8
# A line search shortens a step that went too far, each time to a fraction: so many times are enough.
SOON = 4


@rule
def exploding_gradient(run: Run) -> Iterator[Finding]:
    """Report the first step at which the total gradient norm is out of proportion, before clipping."""
    steps, norms = run.series("grad_norm_before_clip")
    if not steps or any(record.deed is Deed.CLIP for record in run.of(ScaledGradientsRecord)):  # these have a scale
        steps, norms = run.series("grad_norm", name="")
    steps, norms = sound_part(run, steps, norms)
    if run.series("skipped_steps")[0]:  # a scaler looks for its scale, and leaves out what overflows
        kept = [(step, norm) for step, norm in zip(steps, norms, strict=True) if math.isfinite(norm)]
        steps, norms = [step for step, _ in kept], [norm for _, norm in kept]
    losses = dict(zip(*run.series("loss"), strict=True))
    judged = (
        _judge(run, stretch, losses, last=stretch.steps[-1] == steps[-1]) for stretch in stretches(run, steps, norms)
    )
    yield from islice(filter(None, judged), 1)


def _judge(run: Run, stretch: Stretch, losses: Mapping[int, float], *, last: bool) -> Finding | None:
    """Judge one of several trainings; ``last`` says that the run ends with it."""
    steps, norms = stretch.steps, stretch.norms
    own = {step: loss for step, loss in losses.items() if steps[0] <= step and (last or step <= steps[-1])}
    if _falls_though_summed(run, list(own.values())):
        return None
    broke = last and _breaks_by_itself(run)
    tried = {step for step in steps if _was_tried(losses, step)} if run.of(HandStepsRecord) else set[int]()
    where, threshold = _outlier(steps, norms, tried) or _rise(steps, norms, own, broke=broke) or (None, 0.0)
    if where is None or (steps[where] < last_beginning(run) and searches_rate(run)):
        return None  # one of several rates that were tried was too high; the last training is sound
    worst = max((n for n in norms if math.isfinite(n)), default=math.inf)
    parameter = _largest(run, steps[where])
    return Finding(
        rule="exploding-gradient",
        severity=Severity.ERROR,
        confidence=0.9,
        title=f"the gradient norm reaches {worst:.3g} (first above bounds at step {steps[where]})",
        module=parameter.rpartition(".")[0] if parameter else None,
        parameter=parameter,
        **line_of(_backward_at(run, steps[where])),
        step=steps[where],
        evidence={
            "gradient norm": norms[where],
            "median of the run": median(norms) if all(map(math.isfinite, norms)) else "not finite",
            "threshold": threshold,
        },
        why="Steps along such gradients throw the weights far away"
        + ("; the next loss is larger still." if _worsens(losses, steps[where]) else "."),
        fix=_fix(run, parameter),
    )


def _fix(run: Run, parameter: str | None) -> str:
    if run.of(ClippingLineRecord):
        return "lower the learning rate: the gradients are clipped already"
    where = "after backward()" if run.of(HandStepsRecord) else "before optimizer.step()"
    owner = parameters_in(run, parameter or _largest_of_all(run))
    return f"torch.nn.utils.clip_grad_norm_({owner}, 1.0)  # {where}; or a smaller lr"


def _worsens(losses: Mapping[int, float], step: int) -> bool:
    """Whether the loss after a step was seen to be larger than the one before it, or no number."""
    before, after = losses.get(step), losses.get(step + 1)
    return before is not None and after is not None and not after <= before


def _outlier(steps: Sequence[int], norms: Sequence[float], tried: AbstractSet[int]) -> tuple[int, float] | None:
    finite = [norm for norm in norms if math.isfinite(norm)]
    if len(finite) < MIN_NORMS:
        return None
    threshold = max(LARGE, TIMES_MEDIAN * median(finite))
    far = (i for i, norm in enumerate(norms) if norm > LARGE and norm >= threshold)
    where = next((i for i in far if steps[i] not in tried), None)
    return None if where is None else (where, threshold)


def _rise(
    steps: Sequence[int], norms: Sequence[float], losses: Mapping[int, float], *, broke: bool
) -> tuple[int, float] | None:
    """Return where the norm has risen with the loss over several steps, higher than ever, or until the run broke."""
    streak, highest, start = 0, 0.0, 0.0
    known = sorted(losses)
    for i in range(1, len(norms)):
        before, after = (_newest(known, losses, step) for step in (steps[i - 1], steps[i]))
        worse = before is not None and after is not None and (after > before or not math.isfinite(after))
        streak = streak + 1 if worse and math.isfinite(norms[i - 1]) and not norms[i] <= norms[i - 1] else 0
        highest = max(highest, norms[i - 1])
        start = norms[i - 1] if streak == 1 else start
        # one that comes back from far is settling; one that is not finite, out of nowhere, did not grow
        grown = math.isfinite(norms[i]) or norms[i - 1] >= MIN_GROWTH * start
        high = streak >= RISING_STEPS and grown and not norms[i] <= max(LARGE, highest, MIN_GROWTH * start)
        if high and not _goes_on_well(losses, steps[i]):
            return i, LARGE
    early = len(norms) < RISING_STEPS  # no steps were left in which to rise
    # the gradient of what broke is no growth of its own
    last = max((i for i, norm in enumerate(norms) if math.isfinite(norm)), default=0)
    return (last, LARGE) if broke and (streak or early) and LARGE < norms[last] < math.inf else None


def _was_tried(losses: Mapping[int, float], step: int) -> bool:
    """Whether a step by hand made the loss worse and was soon taken back, as in a line search that goes too far."""
    before, at = losses.get(step - 1), losses.get(step)
    after = [losses[each] for each in range(step + 1, step + 1 + SOON) if each in losses]
    return before is not None and at is not None and bool(after) and min(after) <= before < at


def _newest(known: Sequence[int], losses: Mapping[int, float], step: int) -> float | None:
    """Return the newest loss at a step, by which several optimizers may step in turn; None before the first one."""
    place = bisect_right(known, step) - 1
    return losses[known[place]] if place >= 0 else None


def _goes_on_well(losses: Mapping[int, float], step: int) -> bool:
    """Whether the losses after a step are no worse than those before its rise: batches differ, and nothing was lost."""
    before = [loss for at, loss in losses.items() if at <= step - RISING_STEPS]
    after = [loss for at, loss in losses.items() if at > step]
    enough = min(len(before), len(after)) > RISING_STEPS
    return enough and all(map(math.isfinite, after)) and median(after) <= median(before)


def _breaks_by_itself(run: Run) -> bool:
    """Whether a non-finite value ended the sound part of the run, and did not come with the data."""
    births = run.of(NonfiniteRecord)
    return bool(births) and births[0].birth is not Birth.INPUT


def _falls_though_summed(run: Run, losses: Sequence[float]) -> bool:
    """Whether the loss is a sum over samples, whose gradients are large by nature, and falls."""
    summed = any(record.reduction == "sum" for record in run.of(LossRecord))
    return summed and len(losses) > 1 and losses[-1] < losses[0]


def _backward_at(run: Run, step: int) -> Place | None:
    """Return the line that went backward by a step: of those of the newest training the first."""
    lines = [record for record in run.of(BackwardRecord) if record.step <= step]
    newest = max(lines, key=lambda record: record.step, default=next(iter(run.of(BackwardRecord)), None))
    return newest.place if newest is not None else None


def _largest_of_all(run: Run) -> str | None:
    sizes = {name: max(run.series("grad_norm", parameter=name)[1], default=-1.0) for name in run.subjects("grad_norm")}
    return max(filter(None, sizes), key=lambda name: sizes[name], default=None)


def _largest(run: Run, step: int) -> str | None:
    best, name = -1.0, None
    for parameter in run.subjects("grad_norm"):
        steps, values = run.series("grad_norm", parameter=parameter)
        value = dict(zip(steps, values, strict=True)).get(step, -1.0)
        if value > best:
            best, name = value, parameter
    return name
