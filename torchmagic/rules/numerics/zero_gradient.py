"""All gradients, or those of some parameters, are exactly zero, step after step, although the loss is not.

*Symptom*: the loss goes up and down with the batches and never comes down; no parameter moves, and nothing raises. Or
only the biases learn, as where weights are rounded in a quantised layer.

*Why it happens*: the loss is connected to the parameters, but each way between them has a slope of zero: it goes
through ``round``, ``floor`` or ``sign``, is multiplied by zero (a mask that is empty, a factor that a schedule has not
yet raised), or passes units that all lie where they are flat.

*What to try*: a smooth function in the loss, and the other one only in what is reported; or hand the gradient straight
through: ``x + (x.round() - x).detach()``. Ask for ``retain_grad()`` along the way: the first tensor from the loss whose
gradient is zero is the one before the cut.

*Source*: Bengio, Léonard and Courville, "Estimating or Propagating Gradients Through Stochastic Neurons", 2013; Schoop
et al., "UMLAUT", CHI 2021.
"""

from collections.abc import Iterator, Sequence

from torchmagic.analyses.counting import few
from torchmagic.analyses.source_lines import lines_calling
from torchmagic.analyses.texts import beside, text_around
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.loop import IdleStepRecord
from torchmagic.records.model import OptimizerRecord
from torchmagic.records.place import Place
from torchmagic.records.reach import ReachRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# A run of so many steps, nearly all of them without a slope.
MIN_STEPS = 10
MIN_SHARE = 0.95
# Looks at the gradient of one parameter.
MIN_LOOKS = 3
# How flat operators are written, where they differ from their names; a factor has no name.
_WRITTEN = {"trunc": ("trunc", "fix"), "mul": (), "round": ("round", "round_")}
_MEANT = {"mul": "a multiplication by zeros", "div": "a division that rounds"}


@rule
def zero_gradient(run: Run, *, min_steps: int = MIN_STEPS, min_share: float = MIN_SHARE) -> Iterator[Finding]:
    """Report that from the first step on all gradients are zero while some loss is not, or those of some parameters."""
    _, norms = run.series("grad_norm", name="")
    zeros = sum(norm == 0 for norm in norms)
    if len(norms) < min_steps or run.of(IdleStepRecord):
        return
    if norms[0] == 0 and zeros >= min_share * len(norms):
        yield from _of_all(run, zeros, len(norms), min_share)
        return
    for record in {each.loss: each for each in run.of(ReachRecord) if each.flattened}.values():
        names = [name for name in record.flattened if _is_flat(run, name)]
        if names:
            yield _of_some(run, record, names)


def _is_flat(run: Run, name: str) -> bool:
    """Whether an optimizer steps a parameter all of whose gradients, of those that were looked at, were zero."""
    sizes = run.series("grad_norm", name=name)[1]
    return (
        len(sizes) >= MIN_LOOKS and not any(sizes) and any(name in each.parameters for each in run.of(OptimizerRecord))
    )


def _of_some(run: Run, record: ReachRecord, names: Sequence[str]) -> Finding:
    """Return the finding of parameters behind operators without a slope, beside others that learn."""
    verb = "gets" if len(names) == 1 else "get"
    return Finding(
        rule="zero-gradient",
        severity=Severity.ERROR,
        confidence=0.93,
        title=f"{few(names)} {verb} gradients of exactly 0: {' and '.join(record.flat)} has no slope",
        module=names[0].rpartition(".")[0],
        parameter=names[0],
        **line_of(_line(run, record)),
        step=0,
        evidence={
            "parameters": len(names),
            "looks in which their gradient was 0": min(len(run.series("grad_norm", name=each)[1]) for each in names),
            "operators without a slope": ", ".join(record.flat),
        },
        why=f"Each way from {record.loss} to them goes through {' or '.join(record.flat)}, whose slope is zero.",
        fix="hand the gradient straight through: x + (x.round() - x).detach()",
    )


def _of_all(run: Run, zeros: int, steps: int, min_share: float) -> Iterator[Finding]:
    level, name = max(((_level(run, each), each) for each in run.subjects("loss")), default=(0.0, ""))
    reached = [each for each in run.of(ReachRecord) if each.num_reached]
    if not level or not reached:
        return  # what is right already has no slope either
    cut = next((each for each in reached if each.flat and not each.flattened), None)
    operators = cut.flat if cut is not None else ()
    yield Finding(
        rule="zero-gradient",
        severity=Severity.ERROR if operators else Severity.WARNING,
        confidence=0.95 if operators else 0.85,
        title=f"all gradients are exactly 0 in {zeros} of {steps} steps, although {name} is {level:.3g}",
        **line_of(_line(run, cut or reached[0])),
        step=0,
        evidence={
            "steps without a gradient": zeros,
            "threshold": f"{min_share:.0%}",
            "operators without a slope": ", ".join(operators) or "none seen",
        },
        why=_reason(operators),
        fix="use a smooth function in the loss, or pass the gradient by: x + (x.round() - x).detach()"
        if set(operators) - {"mul"}
        else "call retain_grad() on what stands between model and loss: what the loss is made of first without a "
        "gradient shows where a mask, a factor or flat units multiply by 0",
    )


def _level(run: Run, name: str) -> float:
    """Return the median size of a loss."""
    sizes = sorted(abs(value) for value in run.series("loss", name=name)[1])
    return sizes[len(sizes) // 2] if sizes else 0.0


def _reason(operators: tuple[str, ...]) -> str:
    if not operators:
        return "The loss is connected to the parameters, but each way between them is multiplied by zero."
    named = " or ".join(_MEANT.get(each, each) for each in operators)
    return f"Each way from the loss to the parameters goes through {named}, whose slope is zero."


def _line(run: Run, reached: ReachRecord) -> Place | None:
    """Return the line that calls a flat operator, the last one before the backward; else that of the backward."""
    place = reached.place
    words = tuple(word for each in reached.flat for word in _WRITTEN.get(each, (each,)))
    lines = lines_calling(text_around(run, place), words) if words else []
    if place is None or not lines:
        return place
    return beside(run, place, max((line for line in lines if line <= place.line), default=lines[0]))
