"""The last layer before the loss is frozen although it is as it was initialised.

*Symptom*: the loss falls slowly and stops early; the rest of the model has to fit itself to random outputs.

*Why it happens*: all parameters were frozen after the new head was put in, or a pattern of names froze the wrong layer.

*What to try*: freeze first and put in the head afterwards, or ``model.head.requires_grad_(True)``; give the head's
parameters to the optimizer.

*Source*: PyTorch tutorial "Finetuning torchvision models", feature extraction.
"""

from collections.abc import Iterator

from torchmagic.analyses.source_lines import lines_freezing
from torchmagic.analyses.texts import places_by
from torchmagic.records.connection import FrozenOutputRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import only_line, rule
from torchmagic.session.run import Run

# Steps that must have been made: one look may be at a graph that nobody trains.
MIN_STEPS = 3


@rule
def frozen_output_layer(run: Run, *, min_steps: int = MIN_STEPS) -> Iterator[Finding]:
    """Report a frozen, untrained layer that every way from the loss to the trained parameters leads through."""
    if run.steps < min_steps:
        return
    for record in run.of(FrozenOutputRecord):
        if not record.untrained or not record.num_training:
            continue
        yield Finding(
            rule="frozen-output-layer",
            severity=Severity.WARNING,
            confidence=0.85,
            title=f"{record.module}, the last layer before the loss, is frozen at its initial values",
            module=record.module,
            **only_line(places_by(run, lines_freezing), record.place),
            step=record.step,
            evidence={
                "frozen parameters": record.num_parameters,
                "parameters behind it that train": record.num_training,
                "class": record.class_name,
            },
            why="Its values are those of a new layer and require no gradient, and all that trains lies before it.",
            fix=f"{record.module}.requires_grad_(True)",
        )
