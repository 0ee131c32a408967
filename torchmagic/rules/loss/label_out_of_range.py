"""A label is none of the classes that the model knows.

*Symptom*: "Target 3 is out of bounds", "all elements of target should be between 0 and 1", on a GPU "device-side assert
triggered"; or no error and a binary cross-entropy that falls below 0.

*Why it happens*: labels begin at 1, padding is marked by -1, the last layer has too few outputs, or the targets of a
binary loss are -1 and 1, or scores, or prediction and target have changed places.

*What to try*: number the classes from 0, give the last layer one output a class, and name a mark for padding with
``ignore_index``.

*Source*: PyTorch documentation, "CrossEntropyLoss" and "BCEWithLogitsLoss"; Stack Overflow question 60166427.
"""

from collections.abc import Iterator

from torchmagic.analyses.crash_words import evidence, shape_of, site_of
from torchmagic.records.crash import CrashKind, CrashSiteRecord, TargetRangeRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Batches in which a binary loss must have been given targets outside of 0 to 1; one can hold a mark for "unknown".
MIN_BATCHES = 3
# So many times the number of classes is no class that was forgotten: a mark for what has none, such as 255 in masks.
FAR_ABOVE = 2


@rule
def label_out_of_range(run: Run, *, min_batches: int = MIN_BATCHES) -> Iterator[Finding]:
    """Report labels that are no class: those that raised, and those that a binary cross-entropy took silently."""
    site = site_of(run, CrashKind.LABEL)
    records = run.of(TargetRangeRecord)
    if site is not None:
        swapped = next((each for each in records if each.reversed and each.place == site.place), None)
        yield _silent(swapped, len(records), 1) if swapped is not None else _crashed(site)
        return
    if len(records) >= min_batches:
        yield _silent(records[0], len(records), min_batches)


def _crashed(site: CrashSiteRecord) -> Finding:
    target = _target(site)
    found: dict[str, float | str] = {}
    if site.value is not None:
        found["label"] = site.value
    if site.limit is not None:
        found["classes"] = site.limit
    if site.num_values:
        found["labels out of range"] = f"{site.num_bad} of {site.num_values}"
    return Finding(
        rule="label-out-of-range",
        severity=Severity.ERROR,
        confidence=0.97 if site.noticed is None or site.value is not None else 0.85,
        title=_title(site, target),
        module=None if site.operation else site.module,
        **line_of(site.place),
        step=site.step,
        evidence={**found, **evidence(site)},
        why=_why(site),
        fix=_fix(site, target),
    )


def _target(site: CrashSiteRecord) -> str:
    """Return what the labels are called."""
    if len(site.operands) > 1:
        return site.operands[1].name
    whole = [fact.name for fact in site.tensors if fact.dtype.startswith(("int", "uint"))]
    return whole[-1] if whole else "target"


def _title(site: CrashSiteRecord, target: str) -> str:
    if "between 0 and 1" in site.message:
        value = f"{site.value}" if site.value is not None else "values outside of 0 to 1"
        return f"{target} holds {value}; the targets of a binary loss lie between 0 and 1"
    value = "a label" if site.value is None else f"label {site.value}"
    if site.limit is None:
        return (
            f"{target} holds {value} that is no class"
            if site.value is None
            else f"{target} holds {value}, which is no class"
        )
    if site.value is None:
        value += " that is no class"
    return f"{target} holds {value}; with {site.limit} classes they go from 0 to {site.limit - 1}"


def _why(site: CrashSiteRecord) -> str:
    if "between 0 and 1" in site.message:
        return "A target is the probability of the positive class."
    logits = site.operands[0] if site.operands and site.limit is not None else None
    classes = (
        f" {logits.name} {shape_of(logits)} has one column a class."
        if logits is not None and len(logits.shape) > 1
        else ""
    )
    if site.value is not None and site.value < 0:
        return f"A negative label is no class, unless it is the loss's ignore_index.{classes}"
    return f"Classes are numbered from 0.{classes}"


def _fix(site: CrashSiteRecord, target: str) -> str:
    if site.limit is None and "between 0 and 1" not in site.message:
        return f"print({target}.min(), {target}.max())  # labels go from 0 to the number of classes less one"
    if "between 0 and 1" in site.message or site.limit is None:
        return f"{target} = {target}.clamp(0, 1)  # or map the two classes to 0 and 1"
    if site.value is not None and site.value < 0:
        return f"F.cross_entropy(…, {target}, ignore_index={site.value})  # where {site.value} marks what has no label"
    if site.value == site.limit:
        return f"{target} = {target} - 1  # where labels begin at 1; else give the last layer {site.limit + 1} outputs"
    if site.alike and site.value is not None and site.value >= FAR_ABOVE * site.limit:
        told = f"where {site.value} marks what has no class; else give the last layer {site.value + 1} outputs"
        return f"F.cross_entropy(…, {target}, ignore_index={site.value})  # {told}"
    outputs = "" if site.value is None else f" {site.value + 1}"
    return f"give the last layer{outputs} outputs, or map the labels of {target} to 0 … {site.limit - 1}"


def _silent(first: TargetRangeRecord, batches: int, min_batches: int) -> Finding:
    target = first.target or "target"
    halves = first.low == -1 and first.high == 1
    why = "A target is the probability of the positive class. Outside of 0 to 1 the loss has no lower end."
    fix = f"{target} = ({target} + 1) / 2" if halves else f"{target} = ({target} > threshold).float()"
    if first.reversed:
        why = f"{target} comes out of the model, and what stands before it does not: they have changed places."
        fix = f"F.{first.loss}({target}, …)  # the prediction first, then the target"
    title = f"{target} goes from {first.low:g} to {first.high:g}; the targets of {first.loss} lie between 0 and 1"
    if not first.num_bad:
        title = f"{first.loss} is given labels as its prediction, and {target} as its target"
    return Finding(
        rule="label-out-of-range",
        severity=Severity.ERROR,
        confidence=0.93,
        title=title,
        **line_of(first.place),
        step=first.step,
        evidence={
            "smallest target": first.low,
            "largest target": first.high,
            "outside of 0 to 1": f"{first.num_bad} of {first.num_values}",
            "batches": batches,
            "threshold": min_batches,
        },
        why=why,
        fix=fix,
    )
