"""The loss is 0 from the first step on: outputs are compared with themselves.

*Symptom*: the loss is exactly 0 in every step, all gradients are 0, and the weights stay as they are.

*Why it happens*: the output is given twice, ``mse_loss(output, output)``; the target is made of the output, or was
overwritten by it; a teacher is the student itself, for want of a ``copy.deepcopy``.

*What to try*: print output and target of one batch, and follow the target back to the data.

*Source*: PyTorch documentation of ``mse_loss`` and ``kl_div``; Hinton et al., "Distilling the knowledge in a neural
network", 2015.
"""

from collections.abc import Iterator

from torchmagic.analyses.objective import single_objective
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.loss import LossRecord
from torchmagic.records.notebook import OptimizerStateRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

MIN_STEPS = 10
# Criteria that are 0 only where output and target are the same, and how far rounding may take each from that.
LARGEST = {"mse_loss": 0.0, "l1_loss": 0.0, "smooth_l1_loss": 0.0, "huber_loss": 0.0, "kl_div": 1e-6}


@rule
def output_as_target(run: Run, *, min_steps: int = MIN_STEPS) -> Iterator[Finding]:
    """Report a distance between outputs and targets that is 0 in each step of the run."""
    objective = single_objective(run)
    if objective is None or objective.mixed or len(objective.criteria) != 1 or run.of(OptimizerStateRecord):
        return
    (criterion,) = objective.criteria
    if criterion not in LARGEST:
        return
    values = [abs(value) for name in objective.losses for value in run.series("loss", name=name)[1]]
    norms = run.series("grad_norm", name="")[1]
    if min(len(values), run.steps) < min_steps or not norms:
        return
    if not all(value <= LARGEST[criterion] for value in (*values, *norms)):
        return
    place = next((each.place for each in run.of(LossRecord) if each.name == criterion), None)
    yield Finding(
        rule="output-as-target",
        severity=Severity.WARNING,
        confidence=0.9,
        title=f"{criterion} is {max(values):.3g} in each of {len(values)} steps: outputs and targets are the same",
        **line_of(place),
        step=0,
        evidence={
            "largest loss": max(values),
            "largest gradient norm": max(norms),
            "threshold": LARGEST[criterion],
            "steps": len(values),
        },
        why="A model that is new cannot hit its targets exactly: they are made of what it gives, or it gives both.",
        fix=f"{criterion}(output, target)  # with a target that comes from the data; a teacher is a deepcopy",
    )
