"""The model predicts the same for every sample.

*Symptom*: the loss stays at the level of guessing the average or the most frequent class.

*Why it happens*: nothing of the input gets through: units are dead or saturated, weights are zero or alike, the inputs
are constant or far too large, or one wrong step has thrown the weights away.

*What to try*: look at the other findings first. Lower the learning rate, normalise inputs and targets, and see whether
the model can learn a single batch by heart.

*Source*: Karpathy, "A recipe for training neural networks", 2019; torchtest (``output_varies``).
"""

import math
from collections.abc import Iterator
from dataclasses import replace

from torchmagic.analyses.breakdown import sound_part
from torchmagic.analyses.improvement import improvement, noise_of_improvement
from torchmagic.analyses.source_lines import lines_giving
from torchmagic.analyses.texts import places_by
from torchmagic.records.activation import ActivationRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import only_line, rule
from torchmagic.session.run import Run

# At the beginning predictions may well be alike.
MIN_STEPS = 20
# Predictions that differ by less than a thousandth of their size, where targets differ by a hundred times that.
MAX_SPREAD, TARGETS_TIMES = 1e-3, 100.0
MIN_LOOKS = 5
# A module that gives one number at its last looks, so many of them.
MIN_LOOKS_OF_MODULE = 2
# One class for all: slow learners begin so. It counts after more steps, and where the predictions hardly differ.
MIN_STEPS_OF_ONE_CLASS, MIN_LOOKS_OF_ONE_CLASS, MAX_SPREAD_OF_ONE_CLASS = 40, 8, 0.02
# A class with this share of the targets is a good guess.
MAX_CLASS_SHARE = 0.95
# Where the loss still falls in the second half of the run, something is being learned.
MOST_IMPROVEMENT = 0.05


@rule
def uniform_prediction(
    run: Run,
    *,
    min_steps: int = MIN_STEPS,
    max_spread: float = MAX_SPREAD,
    min_looks: int = MIN_LOOKS,
    max_class_share: float = MAX_CLASS_SHARE,
    most_improvement: float = MOST_IMPROVEMENT,
) -> Iterator[Finding]:
    """Report, per model and loss, predictions that were all alike at the last looks although targets were not."""
    gained = improvement(run, since=0.5)
    if run.steps < min_steps or gained > most_improvement + 2 * noise_of_improvement(run):
        return
    for subject in run.subjects("prediction_spread"):
        values = {name: sound_part(run, *run.series(name, name=subject))[1] for name in METRICS}
        looks = list(zip(*values.values(), strict=True))
        varied = [look for look in looks[-MIN_LOOKS_OF_ONE_CLASS:] if _targets_vary(look, max_class_share)]
        spreads = [spread for spread, *_ in varied[-min_looks:]]
        flat = len(spreads) >= min_looks and all(spread < max_spread for spread in spreads)
        if flat or _is_one_class(run, varied):
            finding = _finding(subject, values, flat, max_spread, gained)
            yield _told_at_module(run, finding) if flat else finding


def _told_at_module(run: Run, finding: Finding) -> Finding:
    """Return the finding at the first module whose outputs are all one number, where there is one."""
    inside = (each for each in run.of(ActivationRecord) if each.module.startswith(f"{finding.module}."))
    names = dict.fromkeys(each.module for each in inside if not _has_one_output(each))
    module = next((name for name in names if _is_constant(run, name)), None)
    if module is None:
        return finding
    name = module.rpartition(".")[2]
    built = [] if name.isdigit() else places_by(run, lambda text: lines_giving(text, name))
    said = f"{finding.title}: all that {module} gives is one number"
    fix = f"# look at what {module} is given: a norm over one value, and units that are all dead, give one number"
    return replace(finding, title=said, module=module, fix=fix, **only_line(built, None))


def _has_one_output(record: ActivationRecord) -> bool:
    """Whether it is a layer with a single unit: where all samples are alike before it, that gives one number too."""
    return record.class_name == "Linear" and any(each.shape[-1:] == (1,) for each in record.outputs)


def _is_constant(run: Run, module: str) -> bool:
    known = [each for each in run.series("activation_std", module=module)[1] if not math.isnan(each)]
    return len(known) >= MIN_LOOKS_OF_MODULE and not any(known[-MIN_LOOKS_OF_MODULE:])


METRICS = ("prediction_spread", "prediction_share", "target_spread", "target_share")


def _targets_vary(look: tuple[float, ...], max_class_share: float) -> bool:
    spread, _, target_spread, target_share = look
    if not math.isnan(target_share):
        return target_share <= max_class_share
    return target_spread > TARGETS_TIMES * max(spread, MAX_SPREAD / TARGETS_TIMES)


def _is_one_class(run: Run, varied: list[tuple[float, ...]]) -> bool:
    enough = run.steps >= MIN_STEPS_OF_ONE_CLASS and len(varied) >= MIN_LOOKS_OF_ONE_CLASS
    return enough and all(share == 1.0 and spread < MAX_SPREAD_OF_ONE_CLASS for spread, share, *_ in varied)


def _shares(predicted: float, target: float) -> dict[str, str]:
    """Return the shares of the most frequent class; nothing where there are no classes."""
    if math.isnan(predicted):
        return {}
    return {"most frequent predicted class": f"{predicted:.0%}", "most frequent target": f"{target:.0%}"}


def _finding(subject: str, values: dict[str, list[float]], flat: bool, max_spread: float, gained: float) -> Finding:  # noqa: FBT001 - which of two
    model, _, loss = subject.rpartition("/")
    spread, share = values["prediction_spread"][-1], values["prediction_share"][-1]
    what = "are one class for every sample"
    if flat:
        what = f"differ by {spread:.1g} of their size over a batch" if spread else "are the same for all of a batch"
    return Finding(
        rule="uniform-prediction",
        severity=Severity.WARNING,
        confidence=0.85 if flat else 0.7,
        title=f"the predictions of {model} {what}",
        module=model,
        evidence={
            "spread of the predictions over a batch": spread,
            "threshold": max_spread,
            **_shares(share, values["target_share"][-1]),
            "the loss fell in the second half by": f"{gained:.1%}",
            "loss": loss,
        },
        why="What the model is given no longer changes what it says.",
        fix="a smaller lr and normalised inputs; then see whether the model can learn one batch by heart",
    )
