"""binary_cross_entropy is given raw scores: it raises, or the scores were cut to 0 and 1 to silence it.

*Symptom*: "all elements of input should be between 0 and 1"; or the loss jumps between 0 and 100 and many samples have
no gradient.

*Why it happens*: ``binary_cross_entropy`` wants probabilities and does not squash. A clamp to 0 and 1 keeps it from
raising, but a score beyond the limits gets no gradient and a loss of up to 100.

*What to try*: give the raw scores to ``binary_cross_entropy_with_logits``, or take a sigmoid before the loss.

*Source*: PyTorch documentation of ``BCELoss`` and ``BCEWithLogitsLoss``.
"""

from collections.abc import Iterator

from torchmagic.analyses.loss_inputs import input_lines
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.note import CrashRecord
from torchmagic.rules.rule import line_of, line_of_crash, rule
from torchmagic.session.run import Run

# Share of scores at the limits of the clamp, and batches: a clamp against rounding holds next to nothing.
MIN_AT_LIMITS, MIN_BATCHES = 0.2, 3
MESSAGE = "all elements of input should be between 0 and 1"
BOUNDED = ("sigmoid", "softmax")
FIX = "F.binary_cross_entropy_with_logits(scores, target)"


@rule
def bce_on_logits(
    run: Run, *, min_at_limits: float = MIN_AT_LIMITS, min_batches: int = MIN_BATCHES
) -> Iterator[Finding]:
    """Report the crash of a binary cross-entropy on scores, and each line that was given scores cut to its range."""
    for crash in run.of(CrashRecord):
        if MESSAGE in crash.message:
            yield Finding(
                rule="bce-on-logits",
                severity=Severity.ERROR,
                confidence=0.9,
                title="binary_cross_entropy gets values outside 0 to 1: raw scores, or NaN",
                **line_of_crash(crash),
                step=run.steps,
                evidence={"message": MESSAGE},
                why="binary_cross_entropy wants probabilities; it does not take a sigmoid itself.",
                fix=FIX,
            )
    for records in input_lines(run, ("binary_cross_entropy",)):
        cut = [each for each in records if each.source not in BOUNDED and each.at_limits >= min_at_limits]
        if len(cut) >= min_batches:
            share = sum(record.at_limits for record in cut) / len(cut)
            yield Finding(
                rule="bce-on-logits",
                severity=Severity.ERROR,
                confidence=0.85,
                title=f"binary_cross_entropy gets scores cut to its range: {share:.0%} lie at the limits",
                **line_of(cut[0].place),
                step=cut[0].step,
                evidence={"at the limits": f"{share:.1%}", "threshold": f"{min_at_limits:.0%}", "batches": len(cut)},
                why="A clamp is no sigmoid: a score beyond the limits gets no gradient, and a loss of up to 100.",
                fix=FIX,
            )
