"""An evaluation records a graph that nobody uses.

*Symptom*: evaluation takes more memory and time than it needs; the batch size that fits is smaller.

*Why it happens*: ``eval()`` changes what dropout and batch norm do; it does not stop autograd. Each forward keeps what
a backward would need.

*What to try*: evaluate inside ``with torch.no_grad():`` or ``torch.inference_mode()``.

*Source*: PyTorch documentation, "Locally disabling gradient computation" and "Evaluation mode".
"""

import ast
from collections.abc import Iterator

from torchmagic.analyses.profile_costs import profile_of
from torchmagic.analyses.syntax import last_name, tree_of
from torchmagic.analyses.texts import says
from torchmagic.records.evaluation import EvaluationRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.place import Place
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Batches evaluated in all passes together.
MIN_BATCHES = 2
# What takes derivatives without a backward that could be seen: ``torch.autograd.grad`` and its relatives.
DERIVATIVES = frozenset({"grad", "jacobian", "hessian", "vjp", "jvp", "vhp", "hvp", "jacrev", "jacfwd"})


@rule
def no_grad_evaluation_missing(run: Run, *, min_batches: int = MIN_BATCHES) -> Iterator[Finding]:
    """Report each line at which a model was evaluated with gradients on, unless derivatives may be taken of it."""
    records = [record for record in run.of(EvaluationRecord) if record.recorded_graph]
    if not records or says(run, _takes_derivatives):
        return
    for place in dict.fromkeys(record.place for record in records):
        here = [record for record in records if record.place == place]
        batches = sum(record.num_batches for record in here)
        if batches < min_batches:
            continue
        first = here[0]
        yield Finding(
            rule="no-grad-evaluation-missing",
            severity=Severity.INFO,
            confidence=0.9 if not first.training else 0.75,
            title=f"{first.model} is evaluated with gradients on: {batches} graphs for nothing",
            module=first.model,
            **line_of(first.place),
            step=first.step,
            evidence={"passes": len(here), "batches": batches, "threshold": min_batches, **_cost(run, place)},
            why="No backward follows these forwards, but each keeps its intermediate values for one.",
            fix="with torch.no_grad():  # around the evaluation",
        )


def _takes_derivatives(source: str) -> bool:
    calls = (node.func for node in ast.walk(tree_of(source)) if isinstance(node, ast.Call))
    return any(last_name(each) in DERIVATIVES for each in calls)


def _cost(run: Run, place: Place | None) -> dict[str, float]:
    """Return what a profile says that the line took; nothing where there is none, or it was not in it."""
    profile = profile_of(run)
    lines = profile.costs.lines if profile is not None else ()
    return next(({"seconds in the profile": line.total} for line in lines if line.place == place and line.total), {})
