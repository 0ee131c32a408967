"""All weights of a layer are zero and stay zero, because no gradient reaches them.

*Symptom*: the loss stays at the level of guessing; only the bias of the last layer moves.

*Why it happens*: the gradient of a weight is the product of what its layer gets and of what comes back through the next
one. With zeros before and behind, both are zero at every step.

*What to try*: leave the initialisation that the layers come with. Zeros are right for biases, and for the last layer of
a branch whose other layers are not zero.

*Source*: Goodfellow, Bengio and Courville, "Deep Learning", section 8.4; SageMaker Debugger, PoorWeightInitialization.
"""

from collections.abc import Iterator

from torchmagic.analyses.counting import few
from torchmagic.analyses.equal_units import EqualUnitsHistory, equal_units, line_of_filling
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.objective import GroupRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# The catalogue's number: a layer that is zero on purpose moves at the first step.
MIN_STEPS = 5
# A product of zeros has two of them.
MIN_FACTORS = 2
# Rows that were not looked up get no gradient, whatever stands beside the table.
TABLES = frozenset({"Embedding", "EmbeddingBag"})


@rule
def zero_init(run: Run, *, min_steps: int = MIN_STEPS) -> Iterator[Finding]:
    """Report, per model, the first layer whose weights are all zero and get only gradients of zero."""
    zeros = [each for each in equal_units(run) if each.steps >= min_steps and each.has_gradient and each.stays_zero]
    stuck = [each for each in zeros if each.gradient_stays_zero]
    norms = run.series("grad_norm", name="")[1]
    if norms and not any(norm > 0 for norm in norms[1:]) and not _all_are_zero(run, stuck):
        return  # nothing at all gets a gradient: that is not the zeros' doing
    for model in dict.fromkeys(each.model for each in stuck):
        weight, *others = (each for each in stuck if each.model == model)
        if not others and weight.class_name in TABLES:
            continue
        whole = weight.module if weight.parameter.endswith(".weight") else ""
        yield Finding(
            rule="zero-init",
            severity=Severity.ERROR,
            confidence=0.95,
            title=f"all weights of {whole or weight.parameter} are zero, and no gradient reaches them",
            module=weight.module or None,
            parameter=weight.parameter,
            **line_of(line_of_filling(run, weight)),
            step=weight.first_step,
            evidence={
                "steps": weight.steps,
                "threshold": min_steps,
                "other layers that are zero": few([each.module or each.parameter for each in others]) or "none",
            },
            why="Its neighbours are zero too, or flat at zero: the product that makes its gradient is always zero.",
            fix=f"nn.init.kaiming_normal_({weight.parameter})  # or the initialisation that the layer comes with",
        )


def _all_are_zero(run: Run, stuck: list[EqualUnitsHistory]) -> bool:
    """Whether all that is trained is zero, of a loss that is not: then no loss could send a gradient through it.

    Were anything else trained, such as the first factor of a product whose second one is zero, it would be the loss
    that sends none.
    """
    trained = {name for group in run.of(GroupRecord) for name in group.parameters}
    lengths = {name: run.series("weight_norm", parameter=name)[1] for name in trained}
    losses = run.series("loss")[1]
    sizes = [bool(length) and not any(length) for length in lengths.values()]
    return len(stuck) >= MIN_FACTORS and all(sizes) and any(loss != 0 for loss in losses)
