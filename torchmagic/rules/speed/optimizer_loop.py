"""The optimizer goes through its parameters one by one.

*Symptom*: a good part of each step goes into ``optimizer.step()``, in hundreds of small operators.

*Why it happens*: with ``foreach=False``, on a processor, and in classes that one writes oneself, each parameter has its
turn in Python, with several operators each.

*What to try*: ``fused=True``, which does all in one operator, or ``foreach=True``; in a class of one's own, the
functions ``torch._foreach_...``.

*Source*: PyTorch documentation, "torch.optim", on foreach and fused implementations.
"""

from collections.abc import Iterator

from torchmagic.analyses.profile_costs import LEAST_GAIN, Profile, profile_of, shown
from torchmagic.analyses.savings import gained, saved, saves
from torchmagic.analyses.verified import told, verified
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.speed import StepRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Of the time, what the optimizer takes.
MIN_SHARE = 0.15
# Operators a step and parameter; what works on all of them at once has fewer.
MIN_OPERATORS = 2.0
MIN_PARAMETERS = 10


@rule
def optimizer_loop(
    run: Run,
    *,
    min_share: float = MIN_SHARE,
    min_operators: float = MIN_OPERATORS,
    min_parameters: int = MIN_PARAMETERS,
    min_gain: float = LEAST_GAIN,
) -> Iterator[Finding]:
    """Report an optimizer that loops over many parameters, where it takes a good part of a step."""
    profile, records = profile_of(run), run.of(StepRecord)
    if profile is None or not records or not profile.window.steps:
        return
    seconds = profile.phases.get("optimizer", 0.0)
    largest = max(records, key=lambda record: record.parameters)
    parameters = sum(record.parameters for record in records) / len(records)  # a step is one of one of them
    calls = sum(each.calls for each in profile.costs.operators if each.phase == "optimizer" and _is_own(each.name))
    many = calls / profile.steps >= min_operators * parameters and largest.parameters >= min_parameters
    if not many or profile.share(seconds) < min_share or _is_joined(largest):
        return
    tried = verified(run, "fused", largest.optimizer)
    if tried is not None and tried.gain - tried.spread < min_gain:
        return
    saving = gained(profile, tried, seconds, times=profile.steps)
    factor = f"; fused=True makes it {tried.factor}" if tried is not None else ""
    yield Finding(
        rule="optimizer-loop",
        severity=Severity.INFO,
        confidence=0.9 if tried is not None else 0.75,
        title=f"{largest.optimizer} takes {profile.told(seconds)}, one parameter after the other{factor}"
        + saved(profile, saving, cost=seconds),
        optimizer=largest.optimizer,
        **line_of(shown(largest.place)),
        evidence=_evidence(profile, seconds, min_share, calls, largest) | told(tried) | saves(profile, saving),
        why="Each parameter has several operators of its own, and each of them its start.",
        fix=_fix(largest),
    )


def _is_own(name: str) -> bool:
    return name.startswith("aten::") and not name.startswith(("aten::empty", "aten::to", "aten::_to_copy"))


def _is_joined(record: StepRecord) -> bool:
    """Whether all parameters have their turn at once already, as far as torch can."""
    by_default = record.foreach is None and record.built_in and not record.device.startswith("cpu")
    return bool(record.fused) or bool(record.foreach) or by_default


def _evidence(
    profile: Profile, seconds: float, min_share: float, calls: int, record: StepRecord
) -> dict[str, float | str]:
    more = {"operators a step": round(calls / profile.steps), "parameters": record.parameters}
    return profile.evidence(seconds, min_share) | more


def _fix(record: StepRecord) -> str:
    if record.can_fuse:
        return f"torch.optim.{record.class_name}(..., fused=True)"
    if record.built_in:
        return f"torch.optim.{record.class_name}(..., foreach=True)"
    return "torch._foreach_add_(parameters, gradients, alpha=-lr)  # and likewise, in place of the loop over parameters"
