"""The first classification loss is far from that of a model that knows nothing.

*Symptom*: the first steps are spent on bringing outputs to a sensible size; or the loss begins suspiciously low.

*Why it happens*: outputs that are large at the start (inputs that are not normalised, an initialisation without scale),
or, far below, targets that the inputs give away. A model that was trained before begins low, too.

*What to try*: compare with ``math.log(num_classes)``; initialise the last layer small; normalise the inputs.

*Source*: Karpathy, "A recipe for training neural networks", 2019 (verify loss at init); Smith, CS231n notes.
"""

import math
from collections.abc import Iterator

from torchmagic.analyses.objective import chance_level, single_objective
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.loss import BackwardRecord
from torchmagic.records.model import ModelRecord, ParameterRecord
from torchmagic.records.notebook import OptimizerStateRecord
from torchmagic.records.objective import GroupRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# First loss over the logarithm of the number of classes: outputs of usual size leave it within a few tenths.
MAX_TIMES = 2.0
MIN_TIMES = 0.5


@rule
def initial_loss(run: Run, *, max_times: float = MAX_TIMES, min_times: float = MIN_TIMES) -> Iterator[Finding]:
    """Report a first cross-entropy that lies far from the logarithm of the number of classes."""
    objective = single_objective(run)
    if objective is None or _trains_no_model(run):  # an input is made to suit a model that was trained before
        return
    if objective.altered or objective.num_classes < 2:  # noqa: PLR2004 - one class is no choice
        return
    if len(objective.criteria) > 1 or len(objective.losses) > 1 or run.of(OptimizerStateRecord):
        return
    _, values = run.series("criterion", name=objective.losses[0])
    if not values or not math.isfinite(values[0]) or chance_level(run) == 0:  # pairs, told apart at one place
        return
    level = math.log(objective.num_classes)
    times = values[0] / level
    if min_times <= times <= max_times:
        return
    backward = next(iter(run.of(BackwardRecord)), None)
    high = times > 1
    if high and any(record.num_trainable < record.num_parameters for record in run.of(ModelRecord)):
        return  # what is partly frozen was trained before, and its first answers are those to another task
    yield Finding(
        rule="initial-loss",
        severity=Severity.INFO,
        confidence=0.7 if high else 0.5,
        title=f"the first loss is {values[0]:.3g}, and {objective.num_classes} classes at random give {level:.3g}",
        **line_of(backward.place if backward else None),
        step=0,
        evidence={"first loss over log(classes)": times, "threshold": max_times if high else min_times},
        why="The model begins sure of wrong answers: its first outputs are large. One that was trained on another task "
        "begins so, too."
        if high
        else "The model begins with answers that are better than chance: it was trained, or the inputs give them away.",
        fix="nn.init.zeros_(layer.weight)  # of a last layer that was never trained; or normalise the inputs"
        if high
        else "# nothing, if the model was trained before",
    )


def _trains_no_model(run: Run) -> bool:
    """Whether there are models, and what the optimizers step on is no parameter of any of them."""
    of_models = {each.name for each in run.of(ParameterRecord)}
    trained = {name for each in run.of(GroupRecord) for name in each.parameters}
    return bool(of_models and trained) and trained.isdisjoint(of_models)
