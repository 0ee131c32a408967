"""One line builds a new optimizer again and again, and each forgets what the one before had learnt of the gradients.

*Symptom*: training is slower or rougher than it should be; Adam behaves like a sign of the gradient, momentum has no
effect, and a schedule begins anew.

*Why it happens*: momentum, Adam's moments and the like live in the optimizer. Building it inside the loop starts them
from zero each time, so that they never come to hold more than the last few batches.

*What to try*: build the optimizer once, before the loop; to change its learning rate, use a scheduler or set
``group["lr"]``.

*Source*: PyTorch documentation, "torch.optim" (constructing an optimizer); Kingma and Ba, "Adam", ICLR 2015, section 3
(bias correction).
"""

from collections.abc import Iterator

from torchmagic.analyses.built_lines import begins_a_phase, line_that_builds, steps_on_all
from torchmagic.analyses.texts import text_around
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.loop import RebuiltOptimizerRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Two may be two phases of a training; the catalogue asks for three.
MIN_BUILT = 3
# An optimizer that went through its data twice, or made many steps under settings of its own, is a phase.
PHASE_PASSES = 2
PHASE_STEPS = 50
# So many steps, as far as they are counted, in a loop that takes no part of the data by its number are a problem of
# their own.
ROUND_STEPS = 64


@rule
def optimizer_recreated(
    run: Run,
    *,
    min_built: int = MIN_BUILT,
    phase_passes: int = PHASE_PASSES,
    phase_steps: int = PHASE_STEPS,
) -> Iterator[Finding]:
    """Report each line that built optimizers with a state, over the same parameters, for a pass or less each."""
    for record in run.of(RebuiltOptimizerRecord):
        phases = record.most_passes >= phase_passes
        phases = phases or (record.least_steps >= phase_steps and not record.most_passes and not record.same_settings)
        if record.built < min_built or not record.keeps_state or phases:
            continue
        place = record.builder or line_that_builds(run.source, record.places)
        text = text_around(run, place)
        if place is not None and text and not record.most_passes and _is_phase(text, record, place.line):
            continue
        yield Finding(
            rule="optimizer-recreated",
            severity=Severity.WARNING,
            confidence=0.93,
            title=f"{record.optimizer} is built anew {record.built} times over the same parameters",
            optimizer=record.optimizer,
            **line_of(place),
            step=0,
            evidence={
                "optimizers": record.built,
                "threshold": min_built,
                "steps of each": f"{record.least_steps} to {record.most_steps}",
            },
            why=f"{record.class_name} keeps a state for each parameter; each new one starts from zero.",
            fix=f"build {record.optimizer} once, before the loop",
        )


def _is_phase(text: str, record: RebuiltOptimizerRecord, line: int) -> bool:
    """Whether each makes several passes over slices of a tensor, which nobody counted, or a round of many steps."""
    rounds = record.least_steps >= ROUND_STEPS and steps_on_all(text, line)
    return rounds or begins_a_phase(text, line)
