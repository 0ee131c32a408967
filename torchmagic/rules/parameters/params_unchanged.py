"""Steps are made with gradients that are not zero, and the weights stay the same bits.

*Symptom*: the loss does not change beyond the noise of batches; a checkpoint taken later equals the first one.

*Why it happens*: updates below the resolution of the weights (bfloat16 keeps about three digits), weights that are
written back after each step, or parameters that are only copies of those the model computes with.

*What to try*: keep weights in float32 and compute in half precision under ``torch.autocast``; look for
``load_state_dict`` or ``copy_`` in the loop.

*Source*: Micikevicius et al., "Mixed precision training", ICLR 2018 (master weights); SageMaker Debugger,
UnchangedTensor.
"""

from collections.abc import Iterator, Mapping
from math import inf, isnan, prod
from statistics import median

from torchmagic.analyses.arrival import has_arrived
from torchmagic.analyses.rates import rates
from torchmagic.analyses.relative_updates import group_updates
from torchmagic.analyses.source_lines import lines_writing
from torchmagic.analyses.texts import places_by
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import ParameterRecord
from torchmagic.records.objective import GroupRecord
from torchmagic.rules.rule import only_line, rule
from torchmagic.session.run import Run

# Share of a group's elements that are as they were (catalogue).
MIN_SHARE = 0.95
# Dtypes of which float32 is the finer one.
COARSE = ("bfloat16", "float16")
# Below this rate the rate itself is to blame.
NO_RATE = 1e-12
# Optimizers that stop by themselves where nothing is left to gain.
SEARCHING = ("LBFGS",)
# Relative update below which such a one did not move: what rounding leaves.
NO_MOVE = 1e-6
# Share of the steps that must have had a rate.
MIN_RATED = 0.9


@rule
def params_unchanged(run: Run, *, min_share: float = MIN_SHARE) -> Iterator[Finding]:
    """Report each parameter group whose elements had gradients and did not move."""
    sizes = {record.name: prod(record.shape) for record in run.of(ParameterRecord)}
    told: set[str] = set()
    for group in run.of(GroupRecord):
        least = _least_shares(run, group)
        names = [name for name in group.parameters if name in least]
        if not names or group.subject in told or not _has_rate(run, group) or not _has_gradient(run):
            continue
        weight = sum(sizes.get(name, 1) for name in names)
        share = sum(least[name] * sizes.get(name, 1) for name in names) / max(weight, 1)
        if share < min_share or _began_at_minimum(run, group):
            continue
        told.add(group.subject)
        yield _finding(run, group, max(names, key=lambda name: sizes.get(name, 1)), share, min_share)


def _finding(run: Run, group: GroupRecord, name: str, share: float, threshold: float) -> Finding:
    moved = [float(each.ratios.max()) for each in group_updates(run) if each.group.subject == group.subject]
    written_back = bool(moved) and moved[0] > 0 and _swallowed(run, group) < threshold
    dtypes = {record.name: record.dtype for record in run.of(ParameterRecord)}
    dtype = dtypes.get(name)
    neighbours = f"neighbours in {dtype or 'their dtype'}"
    return Finding(
        rule="params-unchanged",
        severity=Severity.ERROR,
        confidence=0.93,
        title=f"{share:.0%} of the values that {group.subject} updates are the same bits after the steps as before",
        parameter=name,
        optimizer=group.optimizer,
        **only_line(places_by(run, lines_writing) if written_back else [], group.built),
        step=group.step,
        evidence={
            "share of elements unchanged": share,
            "threshold": threshold,
            **({"dtype": dtype} if dtype else {}),
            "largest update over weights in a step": max(moved, default=0.0),
            "learning rate": group.lr if group.lr is not None else "not known",
        },
        why="The steps do move the weights, but something writes the old values back before the next one."
        if written_back
        else f"The updates are smaller than half the distance of {neighbours}: they round away.",
        fix="# look for load_state_dict, copy_ or .data = in the loop" if written_back else _fix(dtype, group),
    )


def _fix(dtype: str | None, group: GroupRecord) -> str:
    if dtype in COARSE:
        return "model.float()  # weights in float32, and torch.autocast for the forward"
    finer = "" if dtype else ", and have float32 weights"
    return f"raise the learning rate of {group.subject}, or the loss that its gradients come from{finer}"


def _least_shares(run: Run, group: GroupRecord) -> Mapping[str, float]:
    """Return the least share of unchanged elements of each parameter of a group over the looks while it is stepped.

    A parameter never moved if that is high. A later group of the same parameters takes over from its first step on.
    """
    later = (each.step for each in run.of(GroupRecord) if set(each.parameters) & set(group.parameters))
    until = min((step for step in later if step > group.step), default=inf)
    found = {}
    for name in group.parameters:
        looks = zip(*run.series("unchanged_share", parameter=name), strict=True)
        values = [value for step, value in looks if group.step <= step < until and not isnan(value)]
        if values:
            found[name] = min(values)
    return found


def _has_rate(run: Run, group: GroupRecord) -> bool:
    courses = [each.values for each in rates(run) if each.group.subject == group.subject]
    return not courses or any(float((abs(each) > NO_RATE).mean()) >= MIN_RATED for each in courses)


def _began_at_minimum(run: Run, group: GroupRecord) -> bool:
    """Whether a training began at its minimum; an optimizer that searches along a line usually finds no step there."""
    if group.class_name not in SEARCHING:
        return has_arrived(run, group.parameters)
    moved = [float(median(each.ratios)) for each in group_updates(run) if each.group.subject == group.subject]
    return not max(moved, default=0.0) > NO_MOVE


def _has_gradient(run: Run) -> bool:
    _, norms = run.series("grad_norm", name="")
    return bool(norms) and median(norms) > 0


def _swallowed(run: Run, group: GroupRecord) -> float:
    """Return the usual share of elements that a step itself leaves as they are."""
    shares = [each for name in group.parameters for each in run.series("update_swallowed", parameter=name)[1]]
    known = [each for each in shares if not isnan(each)]
    return median(known) if known else 0.0
