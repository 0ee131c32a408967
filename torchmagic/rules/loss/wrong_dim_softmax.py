"""A softmax normalises over another dimension than the one that its probabilities belong to.

*Symptom*: the loss hardly falls; probabilities of a sample do not sum to 1; the answer for a sample depends on the
other samples of its batch.

*Why it happens*: ``dim=0`` is the batch where samples come first: there the samples compete for each class instead of
the classes for each sample. Without ``dim``, torch takes dimension 0 for three dimensions. Attention weights that are
normalised over the queries, or over a single value, do not weigh the keys.

*What to try*: give the dimension of the classes, ``dim=1`` or ``dim=-1``; for attention the dimension that the
weighted sum goes over.

*Source*: PyTorch documentation of ``softmax`` (implicit dimension choice); Nikanjam et al., NeuraLint, TOSEM 2021.
"""

from collections.abc import Iterator

from torchmagic.analyses.building_lines import place_building
from torchmagic.analyses.loss_inputs import input_lines
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.loss import LossInputRecord, SoftmaxAxisRecord
from torchmagic.records.place import Place
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Forwards in which it must be so: the sizes of one can agree by chance.
MIN_FORWARDS = 2
# Batches of a loss whose classes do not sum to 1, and by how much: rounding and smoothing are far below.
MIN_BATCHES, MIN_ERROR = 3, 0.1
CONFIDENCE = {"batch": 0.95, "single": 0.9, "weights": 0.88, "picked": 0.93}
# The dimension that a loss takes for the classes.
CLASSES_AT = {"nll_loss": 1, "cross_entropy": 1, "ctc_loss": -1}
# A module that is one is given its dimension where it is made.
SOFTMAX = "softmax("
Where = tuple[str | None, Place | None]


@rule
def wrong_dim_softmax(
    run: Run, *, min_forwards: int = MIN_FORWARDS, min_batches: int = MIN_BATCHES, min_error: float = MIN_ERROR
) -> Iterator[Finding]:
    """Report each softmax over the batch, over another dimension than its sum, or than the classes of its loss."""
    told: set[Where] = set()
    axes = [record for record in run.of(SoftmaxAxisRecord) if record.reason in CONFIDENCE]
    for where in dict.fromkeys((record.module, record.place) for record in axes):
        here = [record for record in axes if (record.module, record.place) == where]
        if len(here) >= min_forwards:
            told.add(where)
            yield _by_axis(run, here, min_forwards)
    for records in input_lines(run, tuple(CLASSES_AT)):
        wrong = [record for record in records if _misses_the_classes(record, min_error)]
        found = next(((each.producer, each.producer_place) for each in wrong if each.producer_place), (None, None))
        if len(wrong) >= min_batches and len(wrong) == len(records) and not (told and found in (*told, (None, None))):
            yield _by_loss(wrong, found, min_batches)


def _misses_the_classes(record: LossInputRecord, min_error: float) -> bool:
    """Classes that were left out after the softmax leave sums below 1, and are no mistake."""
    if record.single or record.partial or record.num_classes < 2 or record.source not in ("log_softmax", "softmax"):  # noqa: PLR2004 - a choice
        return False
    return (record.log_error if record.source == "log_softmax" else record.sum_error) > min_error


def _by_axis(run: Run, here: list[SoftmaxAxisRecord], min_forwards: int) -> Finding:
    first = here[0]
    made = place_building(run, first.module or "")
    return Finding(
        rule="wrong-dim-softmax",
        severity=Severity.ERROR,
        confidence=CONFIDENCE[first.reason],
        title=f"{first.function} over dimension {first.dim} of {first.shape} {_reason(first)}",
        module=first.module,
        **line_of(made if made is not None and SOFTMAX in made.source.lower() else first.place),
        step=first.step,
        evidence={
            "shape": str(first.shape),
            "normalised over": first.dim,
            "wanted": "the classes" if first.wanted is None else first.wanted,
            "forwards": len(here),
            "threshold": min_forwards,
        },
        why=_why(first),
        fix="softmax(…, dim=-1)  # the classes of each sample" if first.wanted is None else _fix(first),
    )


def _reason(record: SoftmaxAxisRecord) -> str:
    if record.reason == "batch":
        return f"makes the {record.shape[0]} samples of a batch compete"
    if record.reason == "picked":
        return f"while one of the {record.shape[1]} columns is picked for each row"
    if record.reason == "single":
        return f"has one value to normalise; the sum goes over dimension {record.wanted}"
    return f"while the weighted sum goes over dimension {record.wanted}"


def _why(record: SoftmaxAxisRecord) -> str:
    if record.reason == "batch":
        return (
            "Dimension 0 is the batch: each class sums to 1 over the samples, and what one gets depends on the others."
        )
    if record.reason == "picked":
        return (
            f"The {record.shape[0]} rows compete with each other for each column, and the columns of a row do not: "
            "what is picked is no probability of its class."
        )
    if record.reason == "single":
        return "The softmax of a single value is always 1: nothing is weighed, and no gradient goes through it."
    return "The weights that are summed do not sum to 1, so that each output is scaled by how popular it is."


def _fix(record: SoftmaxAxisRecord) -> str:
    if record.reason == "picked":
        return f"{record.function}(…, dim={record.wanted})  # the dimension that is picked from"
    return f"softmax(…, dim={record.wanted})  # the dimension that is summed"


def _by_loss(wrong: list[LossInputRecord], found: Where, min_batches: int) -> Finding:
    first = wrong[0]
    module, place = found
    dim = CLASSES_AT[first.loss]
    error = min(record.log_error if record.source == "log_softmax" else record.sum_error for record in wrong)
    return Finding(
        rule="wrong-dim-softmax",
        severity=Severity.ERROR,
        confidence=0.93,
        title=f"{first.source} before {first.loss} does not normalise over its {first.num_classes} classes",
        module=module,
        **line_of(place or first.place),
        step=first.step,
        evidence={
            "batches": len(wrong),
            "threshold": min_batches,
            "least distance from normalised": error,
            "classes": first.num_classes,
        },
        why=f"{first.loss} takes {'the last dimension' if dim < 0 else 'dimension 1'} for the classes; there the "
        "probabilities do not sum to 1, because they were normalised over another dimension.",
        fix=f"log_softmax(…, dim={dim})  # the dimension that the loss takes for the classes",
    )
