"""A term of the loss is a derivative of the model that was taken without a graph, so that nothing learns from it.

*Symptom*: a gradient penalty that never comes down, forces that are not learnt, a differential equation that the
network does not obey; the rest of the loss trains as if the term were not there. Or a second derivative fails:
``element 0 of tensors does not require grad and does not have a grad_fn``.

*Why it happens*: ``torch.autograd.grad`` makes no graph of the gradients that it returns unless it is told to. What is
computed from them is a constant in the loss.

*What to try*: ``torch.autograd.grad(…, create_graph=True)``. Where the derivative is meant as a constant, as for a
target, ``.detach()`` says so.

*Source*: PyTorch documentation of ``torch.autograd.grad``; Gulrajani et al., "Improved Training of Wasserstein GANs",
2017; Raissi et al., "Physics-informed neural networks", 2019.
"""

from collections.abc import Iterator

from torchmagic.analyses.crash_words import short
from torchmagic.analyses.lost_derivatives import Lines, lost_before, lost_derivatives
from torchmagic.analyses.source_lines import line_at
from torchmagic.analyses.texts import beside, text_around
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.note import CrashRecord
from torchmagic.records.place import Place
from torchmagic.records.reach import DerivativeRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Steps, of those that were looked at, in which the line took it.
MIN_STEPS = 3
# What torch says of a tensor that has no graph.
WITHOUT_GRAPH = "of tensors does not require grad and does not have a grad_fn"


@rule
def derivative_without_graph(run: Run, *, min_steps: int = MIN_STEPS) -> Iterator[Finding]:
    """Report each line whose derivative of a model makes a whole term of the model's own loss, as a constant.

    And the line of one of which a further derivative cannot be taken.
    """
    crash = next((each for each in run.of(CrashRecord) if WITHOUT_GRAPH in each.message), None)
    if crash is not None:
        yield from _of_a_further_one(run, crash)
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


def _of_a_further_one(run: Run, crash: CrashRecord) -> Iterator[Finding]:
    """Yield the finding of a derivative of a derivative, told at the line of the first one."""
    place = Place(file=crash.file, line=crash.line, source=crash.source)
    texts = {"": run.source, **run.texts}
    files = _files_of(run, place)
    lost = next(iter(lost_before(texts, (files, crash.line)) if files else ()), None)
    if lost is None:
        return
    first = beside(run, place, lost.first) if lost.file in files else None
    first = first or Place(file=lost.file, line=lost.first, source=line_at(texts[lost.file], lost.first))
    yield Finding(
        rule="derivative-without-graph",
        severity=Severity.ERROR,
        confidence=0.95,
        title=f"line {crash.line} takes a derivative of one that was taken without a graph",
        **line_of(first),
        step=run.steps,
        evidence={"torch says": short(crash.message), "the further derivative": crash.source},
        why="torch.autograd.grad makes no graph of what it returns unless it is told create_graph=True: there is "
        "nothing that could be differentiated once more.",
        fix="torch.autograd.grad(…, create_graph=True)",
    )


def _files_of(run: Run, place: Place) -> frozenset[str]:
    """Return the names of the texts that have a place's line; that of the run's own source is empty."""
    text = text_around(run, place)
    names = {file for file, each in run.texts.items() if each == text} | ({""} if text == run.source else set())
    return frozenset(names if text else ())


def _is_among(run: Run, place: Place, lost: list[Lines]) -> bool:
    """Whether a place is in one of some lines of the same text."""
    files = _files_of(run, place)
    return any(each.file in files and each.first <= place.line <= each.last for each in lost)
