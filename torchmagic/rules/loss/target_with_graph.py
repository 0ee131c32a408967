"""The target of a regression is made of the model that is trained on it, and gradients go through it.

*Symptom*: values in temporal-difference learning converge slowly or to something else; the target gives way to the
prediction.

*Why it happens*: ``reward + gamma * model(next_state)`` has a graph unless it is made without one. The loss then moves
prediction and target towards each other. Methods that want just this (residual gradients) exist.

*What to try*: make the target under ``torch.no_grad()``, or ``.detach()`` it.

*Source*: Sutton and Barto, "Reinforcement Learning", 2nd edition, 9.3 and 11.5 (semi-gradient and residual-gradient
methods); Mnih et al., "Human-level control through deep reinforcement learning", 2015.
"""

from collections.abc import Iterator

from torchmagic.records.finding import Finding, Severity
from torchmagic.records.loss import LossInputRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

MIN_BATCHES = 3


@rule
def target_with_graph(run: Run, *, min_batches: int = MIN_BATCHES) -> Iterator[Finding]:
    """Report each line whose loss learns through its target as well."""
    records = [record for record in run.of(LossInputRecord) if record.bootstrapped]
    for loss, place in dict.fromkeys((record.loss, record.place) for record in records):
        here = [record for record in records if (record.loss, record.place) == (loss, place)]
        if len(here) < min_batches:
            continue
        yield Finding(
            rule="target-with-graph",
            severity=Severity.INFO,
            confidence=0.7,
            title=f"{loss} learns through its target: it is made of the model that is trained on it",
            **line_of(place),
            step=here[0].step,
            evidence={"batches seen": len(here), "threshold": min_batches},
            why="The target has a graph that ends at the weights of the prediction: the loss also moves the target "
            "towards the prediction.",
            fix="with torch.no_grad(): around what makes the target, or target.detach()",
        )
