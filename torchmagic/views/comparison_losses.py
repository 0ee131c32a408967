"""This file is what a comparison says of losses: whether they are the same, where they end, and how that was judged."""

import math
from collections.abc import Sequence

from torchmagic.analyses.endings import LEAST_SHARE, STANDARD_ERRORS, Ending, are_apart, equal_for, loss_ending
from torchmagic.analyses.parameter_difference import ROUNDING
from torchmagic.records.objective import ObjectiveRecord
from torchmagic.session.run import Run
from torchmagic.views.numbers import as_number
from torchmagic.views.words import joined

CURVES = (("loss", "loss"), ("eval_loss", "evaluation loss"))


def judgement(runs: Sequence[Run], names: Sequence[str]) -> str:
    """Say how far losses that were compared scatter, what counts as a difference, and how long curves were equal."""
    ends = [loss_ending(run) for run in runs]
    told = []
    if not any(equal_curves(runs[0], run) for run in runs[1:]):
        known = [(end, name) for end, name in zip(ends, names, strict=True) if not math.isnan(end.scatter)]
        if len(known) == len(runs) and not any(end.broken for end in ends):
            widths = list(dict.fromkeys(str(end.width) for end, _ in known))
            scatter = joined([f"{as_number(_rounded(end.scatter))} in {name}" for end, name in known])
            told.append(
                f"An end is the mean of the last {' or '.join(widths)} values, which scatter by {scatter}; "
                f"a difference counts where it is more than the smaller scatter, {as_number(STANDARD_ERRORS)} standard "
                f"errors of the means, and {as_number(100 * LEAST_SHARE)}%. Another seed may move an end further than "
                "that."
            )
    for run, name in zip(runs[1:], names[1:], strict=True):
        same = equal_for(runs[0], run, "loss")
        if same is not None and 1 < same[0] < same[1]:
            told.append(f"The losses of {names[0]} and {name} are the same bits for the first {same[0]} steps.")
    return " ".join(told)


def equal_curves(run: Run, other: Run) -> str | None:
    """Say that the curves are the same; None where one is not, nothing where there are none."""
    if run.steps != other.steps or any(bool(run.series(name)[1]) != bool(other.series(name)[1]) for name, _ in CURVES):
        return None
    lengths = {words: equal_for(run, other, metric) for metric, words in CURVES}
    known = {words: pair for words, pair in lengths.items() if pair is not None}
    # the norm is summed in another order where a step is looked at more closely, so that its last digits may differ
    norm = equal_for(run, other, "grad_norm", tolerance=ROUNDING)
    if any(same < length for same, length in (*known.values(), norm or (0, 0))):
        return None
    if not known:
        return ""
    said = f"{joined(list(known))} {'is' if len(known) == 1 else 'are'} the same to the last bit"
    return said if norm is None else f"{said}, the gradient norm to 5 digits"


def loss_words(run: Run, other: Run, *, of: str) -> str:
    """Say where the loss of the other run ends beside that of the run called ``of``, and whether they differ."""
    before, after = loss_ending(run), loss_ending(other)
    hindered = _hindered(before, after, of) or _other_function(run, other)
    if hindered or not (before.width or after.width):
        return hindered
    ends = as_number(_rounded(after.mean)), as_number(_rounded(before.mean))
    apart, mean = are_apart(before, after), _mean_words(before, after)
    if apart:
        lower = "lower" if after.mean < before.mean else "higher"
        return f"its loss ends {lower}, at {ends[0]} instead of {ends[1]}{mean}"
    why = "too few values to tell a difference from chance" if apart is None else "within the scatter of the curves"
    return f"its loss ends at {ends[0]} beside {ends[1]}{mean}, {why}"


def _mean_words(before: Ending, after: Ending) -> str:
    """Say that an end is a mean, so that nobody takes it for the last value; nothing where it is that."""
    if before.width == after.width == 1:
        return ""
    same = before.width == after.width
    return f" in the mean of {'the' if same else 'its'} last {f'{after.width} values' if same else 'values'}"


def _hindered(before: Ending, after: Ending, of: str) -> str:
    """Say why two ends cannot be compared; nothing where they can."""
    for one, words in ((after, "its loss"), (before, f"the loss of {of}")):
        if one.broken:
            known = f", and was {as_number(_rounded(one.mean))} before" if one.width else ""
            return f"{words} is not finite at the end{known}"
    if bool(before.width) != bool(after.width):
        return f"only {'it' if after.width else of} has a loss"
    return ""


def _other_function(run: Run, other: Run) -> str:
    """Say that two losses are not the same function, so that their values say nothing of each other."""
    criteria = [next((record.criteria for record in each.of(ObjectiveRecord)), ()) for each in (run, other)]
    if not all(criteria) or criteria[0] == criteria[1]:
        return ""
    return f"its loss is another function, {joined(criteria[1])} and not {joined(criteria[0])}, and cannot be compared"


def _rounded(value: float) -> float:
    """Return a value with three digits: a fourth one of a mean is chance."""
    return float(f"{value:.3g}") if math.isfinite(value) else value
