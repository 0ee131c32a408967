"""A term of the loss is a derivative of the model that was taken without a graph, so that nothing learns from it.

*Symptom*: a gradient penalty that never comes down, forces that are not learnt, a differential equation that the
network does not obey; the rest of the loss trains as if the term were not there.

*Why it happens*: ``torch.autograd.grad`` makes no graph of the gradients that it returns unless it is told to. What is
computed from them is a constant in the loss.

*What to try*: ``torch.autograd.grad(…, create_graph=True)``. Where the derivative is meant as a constant, as for a
target, ``.detach()`` says so.

*Source*: PyTorch documentation of ``torch.autograd.grad``; Gulrajani et al., "Improved Training of Wasserstein GANs",
2017; Raissi et al., "Physics-informed neural networks", 2019.
"""

from collections.abc import Iterator

from torchmagic.analyses.lost_derivatives import Lines, lost_derivatives
from torchmagic.analyses.texts import text_around
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.place import Place
from torchmagic.records.reach import DerivativeRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Steps, of those that were looked at, in which the line took it.
MIN_STEPS = 3


@rule
def derivative_without_graph(run: Run, *, min_steps: int = MIN_STEPS) -> Iterator[Finding]:
    """Report each line whose derivative of a model makes a whole term of the model's own loss, as a constant."""
    records = [each for each in run.of(DerivativeRecord) if each.count >= min_steps and each.place is not None]
    if not records:
        return
    lost = lost_derivatives({"": run.source, **run.texts})
    for record in records:
        if record.place is not None and _is_among(run, record.place, lost):
            yield Finding(
                rule="derivative-without-graph",
                severity=Severity.ERROR,
                confidence=0.9,
                title=f"a term of {record.loss} is a derivative without a graph: nothing is learnt from it",
                **line_of(record.place),
                step=record.step,
                evidence={"steps that were looked at and took it": record.count, "threshold": min_steps},
                why="torch.autograd.grad makes no graph of what it returns unless it is told create_graph=True: the "
                "term is a constant for the backward.",
                fix="torch.autograd.grad(…, create_graph=True); where a constant is meant, .detach() says so",
            )


def _is_among(run: Run, place: Place, lost: list[Lines]) -> bool:
    """Whether a place is in one of some lines of the same text."""
    text = text_around(run, place)
    files = {file for file, each in run.texts.items() if each == text} | ({""} if text == run.source else set())
    return any(text and each.file in files and each.first <= place.line <= each.last for each in lost)
