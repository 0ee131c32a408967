"""The model's last activation cannot reach the targets.

*Symptom*: the loss stops at a large value; predictions stick to one end of their range.

*Why it happens*: a sigmoid gives 0 to 1, a tanh -1 to 1, a ReLU nothing below 0. Targets outside of that are out of
reach whatever the weights are, and at the end of the range the gradient vanishes. A logit that is never below 0 stands
for a probability of a half and more.

*What to try*: end a regression in a linear layer, or scale the targets into the range of the activation.

*Source*: Wardat et al., DeepLocalize, ICSE 2021; Nikanjam et al., NeuraLint, TOSEM 2021.
"""

import math
from collections.abc import Iterator

from torchmagic.analyses.loss_inputs import input_lines
from torchmagic.records.feeding import DifferenceRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.loss import LossInputRecord
from torchmagic.records.place import Place
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# A fifth of the targets out of reach is no matter of outliers; it must hold over all batches looked at together.
MIN_OUTSIDE = 0.2
MIN_BATCHES = 2
LOSSES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "difference")
# Of logits that are never below zero the probability is never below a half.
LOGIT_LOSS = "binary_cross_entropy_with_logits"


@rule
def output_range_mismatch(
    run: Run, *, min_outside: float = MIN_OUTSIDE, min_batches: int = MIN_BATCHES
) -> Iterator[Finding]:
    """Report each loss line whose targets lie, for a good part, outside of what the model can give."""
    for all_records in input_lines(run, (*LOSSES, LOGIT_LOSS)):
        whole = [each for each in all_records if each.loss != LOGIT_LOSS or not each.partial]
        for source in dict.fromkeys(record.source for record in whole):
            records = [each for each in whole if each.source == source and not math.isnan(each.outside)]
            outside = sum(record.outside for record in records) / max(len(records), 1)
            if len(records) >= min_batches and outside >= min_outside:
                yield _finding(records, outside, min_outside, _place(run, records[0]))


def _place(run: Run, record: LossInputRecord) -> Place | None:
    """Return the line of the loss; that of the subtraction where it was written by hand."""
    differences = run.of(DifferenceRecord)
    return record.place or (differences[0].place if differences else None)


def _finding(records: list[LossInputRecord], outside: float, min_outside: float, place: Place | None) -> Finding:
    first = records[0]
    module = next((record.producer for record in records if record.producer), None)
    low, high = min(record.target_low for record in records), max(record.target_high for record in records)
    name = f"the {first.source} in {module}" if module else f"a {first.source}"
    gives = f"A {first.source} gives {first.range_low:g} to {first.range_high:g} whatever its input is"
    scale = ", or scale the targets into its range"
    if first.loss == LOGIT_LOSS:
        gives += ", and a logit of 0 stands for a probability of 0.5: none below it can be told"
        scale = ": a logit may be negative"
    return Finding(
        rule="output-range-mismatch",
        severity=Severity.ERROR,
        confidence=0.95,
        title=f"{outside:.0%} of the targets ({low:.3g} to {high:.3g}) are out of reach of {name}",
        module=module,
        **line_of(place),
        step=first.step,
        evidence={
            "targets out of reach": f"{outside:.1%}",
            "threshold": f"{min_outside:.0%}",
            "range of the output": f"{first.range_low:g} to {first.range_high:g}",
            "least target": low,
            "greatest target": high,
            "batches": len(records),
        },
        why=f"{gives}.",
        fix=f"remove the {first.source} after the last layer{scale}",
    )
