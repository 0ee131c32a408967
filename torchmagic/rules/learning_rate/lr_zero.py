"""A parameter group is stepped with a learning rate of zero.

*Symptom*: the loop runs, gradients are there, and the weights of the group do not move.

*Why it happens*: a schedule whose factor becomes 0 (whole-number division, a decay that ends too early, a warm-up that
is never stepped or stays at 0), or a rate that was given as 0.

*What to try*: print ``scheduler.get_last_lr()`` over a whole run. To freeze parameters on purpose, leave them out of
the optimizer and say ``requires_grad_(False)``.

*Source*: PyTorch documentation, "How to adjust learning rate"; Humbatova et al., ICSE 2020 (suboptimal learning rate).
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from torchmagic.analyses.counting import MOST_NAMED, few
from torchmagic.analyses.optimizer_lines import built_with
from torchmagic.analyses.rate_lines import place_of_rate
from torchmagic.analyses.rates import ZERO, Rate, rates
from torchmagic.analyses.schedule_names import schedule_name
from torchmagic.analyses.source_lines import with_true_division
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import ParameterRecord
from torchmagic.records.objective import GroupRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Share of the steps, and number of steps, from which on it is no accident (catalogue).
MIN_SHARE = 0.3
MIN_STEPS = 10
# The end of a decay may touch zero for this share of the steps.
END_SHARE = 0.1
# Rates to begin with: of SGD, and of what brings each gradient to one length, as Adam does.
USUAL_SGD, USUAL = 1e-2, 1e-3


@rule
def lr_zero(run: Run, *, min_share: float = MIN_SHARE, min_steps: float = MIN_STEPS) -> Iterator[Finding]:
    """Report each group whose rate is zero for much of the run, warm-up and the end of a decay left out."""
    told: set[str] = set()
    alike: dict[tuple[str, float], list[tuple[Rate, NDArray[np.bool_]]]] = {}
    found = rates(run)
    nothing_moves = _lead(found)
    for rate in found:
        if rate.num_steps < min_steps or rate.group.subject in told or _is_frozen(run, rate):
            continue
        zero = _stuck_at_zero(rate.values[: rate.num_steps], nothing_moves)
        share = float(zero.mean())
        if share >= min_share:
            told.add(rate.group.subject)
            alike.setdefault((rate.group.optimizer, share), []).append((rate, zero))
    for (optimizer, share), groups in alike.items():
        rate, zero = groups[0]
        named = [each.group.subject for each, _ in groups]
        subjects = few(named) if len(named) > MOST_NAMED else " and ".join(named)
        yield Finding(
            rule="lr-zero",
            severity=Severity.ERROR,
            confidence=0.95,
            title=f"the learning rate of {subjects} is 0 for {share:.0%} of the steps",
            optimizer=optimizer,
            **line_of(place_of_rate(run, rate)),
            step=rate.group.step + int(np.flatnonzero(zero)[0]),
            evidence={
                "share of steps at 0": share,
                "threshold": min_share,
                "steps": rate.num_steps,
                "largest rate": float(rate.values.max()),
                "schedule": rate.schedules[0].class_name if rate.schedules else "none",
            },
            why="A step is the learning rate times a direction: with a rate of 0 the weights stay as they are.",
            fix=_fix(run, rate),
        )


def _lead(found: list[Rate]) -> float:
    """Return for which share of the run, at its beginning, every rate of every optimizer is zero."""
    above = [np.flatnonzero(np.abs(rate.values) >= ZERO) for rate in found]
    begins = [rate.group.step + int(each[0]) for rate, each in zip(found, above, strict=True) if len(each)]
    end = max((rate.group.step + len(rate.values) for rate in found), default=0)
    return min(begins, default=0) / max(end, 1)


def _stuck_at_zero(values: NDArray[np.float64], nothing_moves: float) -> NDArray[np.bool_]:
    """Return where the rate is zero, but for a decay that ends there, and a beginning while others move."""
    zero = np.abs(values) < ZERO
    above = np.flatnonzero(~zero)
    if len(above):
        if nothing_moves < MIN_SHARE:
            zero[: above[0]] = False
        if len(zero) - above[-1] - 1 <= END_SHARE * len(zero):
            zero[above[-1] :] = False
    return zero


def _is_frozen(run: Run, rate: Rate) -> bool:
    """Whether all parameters of the group are frozen anyway."""
    trainable = {record.name: record.trainable for record in run.of(ParameterRecord)}
    names = rate.group.parameters
    return bool(names) and not any(trainable.get(name, True) for name in names)


def _fix(run: Run, rate: Rate) -> str:
    above = np.flatnonzero(np.abs(rate.values[: rate.num_steps]) >= ZERO)
    place = place_of_rate(run, rate) if not len(above) else None
    whole = with_true_division(place.source) if place is not None else ""
    if whole:
        return f"{whole}  # / and not //: whole numbers leave nothing of a factor below 1"
    ends = (
        f"0 from step {above[-1] + 1} of {rate.num_steps} on" if len(above) and above[-1] + 1 < rate.num_steps else ""
    )
    schedule = rate.schedules[0] if rate.schedules and any(rate.schedules[0].base_lr) else None
    if schedule is not None and (schedule.stepped or not len(above)):
        name = schedule_name(run, schedule)
        if not schedule.stepped:
            return f"{name}.step()  # after each {rate.group.optimizer}.step(): it begins at 0, and stays there"
        told = "each epoch, to see where it comes to 0" if len(above) else "each epoch; use / and not // in a factor"
        return f"print({name}.get_last_lr())  # " + (f"{ends}: plan the schedule for all steps" if ends else told)
    if len(above):  # somebody sets it by hand
        number = rate.group.subject.removeprefix(rate.group.optimizer) or "[0]"
        return f'print({rate.group.optimizer}.param_groups{number}["lr"])  # {ends or "at each step"}: set it to a rate'
    return built_with(run, rate.group, "lr", _usual(run, rate))


def _usual(run: Run, rate: Rate) -> float:
    """Return a rate to begin with: that of another group of the optimizer, else one that is usual for its kind."""
    others = [each.lr for each in run.of(GroupRecord) if each.optimizer == rate.group.optimizer and each.lr]
    return max(others, default=USUAL_SGD if rate.group.class_name == "SGD" else USUAL)
