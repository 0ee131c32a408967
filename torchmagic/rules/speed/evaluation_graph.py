"""Evaluations that record a graph nobody uses take a good part of the time.

*Symptom*: evaluating takes nearly as long a batch as training, and more memory than it needs.

*Why it happens*: ``eval()`` changes what dropout and batch norm do; it does not stop autograd. Each forward notes down
its operators and keeps their values for a backward that does not come.

*What to try*: ``with torch.no_grad():`` or ``with torch.inference_mode():`` around the evaluation.

*Source*: PyTorch documentation, "Locally disabling gradient computation".
"""

from collections.abc import Iterator

from torchmagic.analyses.profile_costs import LEAST_GAIN, duration, profile_of, shown
from torchmagic.records.evaluation import EvaluationRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.speed import EvaluationGraphRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Of the time of the run, what these forwards take; the graph is a part of that.
MIN_SHARE = 3 * LEAST_GAIN
MIN_BATCHES = 3


@rule
def evaluation_graph(run: Run, *, min_share: float = MIN_SHARE, min_batches: int = MIN_BATCHES) -> Iterator[Finding]:
    """Report each line; where evaluations are watched themselves, ``no-grad-evaluation-missing`` tells of them."""
    if profile_of(run) is None or any(record.recorded_graph for record in run.of(EvaluationRecord)):
        return
    for record in run.of(EvaluationGraphRecord):
        share = record.seconds / max(record.run_seconds, record.seconds, 1e-9)
        if record.batches < min_batches or share < min_share:
            continue
        yield Finding(
            rule="evaluation-graph",
            severity=Severity.INFO,
            confidence=0.85,
            title=f"{record.batches:,} batches of evaluation recorded a graph for nothing, in forwards of "
            f"{duration(record.seconds)} ({share:.0%} of the run)",
            module=record.model,
            **line_of(shown(record.place)),
            evidence={
                "batches": record.batches,
                "seconds of the forwards": float(f"{record.seconds:.3g}"),
                "share of the run": f"{share:.1%}",
                "threshold": f"{min_share:.0%} of the run",
            },
            why="No backward follows these forwards, but each notes down its operators and keeps their values for one. "
            "Which part of the time that is was not measured.",
            fix="with torch.no_grad():  # around the evaluation",
        )
