"""A layer with weights is made anew in every forward.

*Symptom*: the output of the same input differs from call to call; the layer never learns.

*Why it happens*: ``nn.Linear(...)`` inside ``forward`` draws new random weights at each call. They belong to no
``parameters()`` and are thrown away after the step.

*What to try*: make the layer once, in ``__init__``, and call it in ``forward``.

*Source*: PyTorch documentation, "Modules"; PyTorch forum, "Creating layers in forward".
"""

from collections.abc import Iterator

from torchmagic.records.connection import MadeInForwardRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Forwards in which it must have happened: once may be a layer that is made when its input is first seen.
MIN_CALLS = 3


@rule
def module_created_in_forward(run: Run, *, min_calls: int = MIN_CALLS) -> Iterator[Finding]:
    """Report each line that makes trainable modules inside a forward again and again."""
    for record in run.of(MadeInForwardRecord):
        if record.num_calls < min_calls:
            continue
        yield Finding(
            rule="module-created-in-forward",
            severity=Severity.ERROR,
            confidence=0.96,
            title=f"{record.model} makes a new {record.class_name} in every forward",
            module=record.model,
            **line_of(record.place),
            step=record.step,
            evidence={"steps in whose forward it happened": record.num_calls, "threshold": min_calls},
            why="Its weights are random at each call, get a gradient once, and are gone before any step could use it.",
            fix=f"self.layer = nn.{record.class_name}(...)  # in __init__, and call self.layer in forward",
        )
