"""Most units of a rectifier give zero for every sample.

*Symptom*: part of the model does nothing; the loss stops early or stays at the level of chance.

*Why it happens*: a large step or large inputs pushed the weights to where the argument is always negative; there the
gradient is zero, and the unit cannot come back.

*What to try*: lower the learning rate, normalise the inputs, initialise with ``kaiming_normal_``, or use LeakyReLU or
GELU.

*Source*: Lu et al., "Dying ReLU and initialization", 2019; Zhang et al., AUTOTRAINER, ICSE 2021.
"""

from collections.abc import Iterator

from torchmagic.analyses.breakdown import sound_part
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import RectifierRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Half the units silent is far beyond the sparsity of a healthy layer; all of them silent stops the gradient.
MIN_SHARE = 0.5
ALL = 1.0
# It must hold at every look in the second half of the run, and at this many: early in a run units come back.
MIN_LOOKS = 3


@rule
def dead_relu(run: Run, *, min_share: float = MIN_SHARE, min_looks: int = MIN_LOOKS) -> Iterator[Finding]:
    """Report each rectifier of which at least half the units were silent to the end."""
    places = {record.module: record.place for record in run.of(RectifierRecord)}
    for module in run.subjects("dead_share"):
        steps, shares = sound_part(run, *run.series("dead_share", module=module))
        late = [share for step, share in zip(steps, shares, strict=True) if 2 * step >= run.steps]
        if len(late) < min_looks or not all(share >= min_share for share in late):
            continue
        began = len(shares) - next((i for i, share in enumerate(reversed(shares)) if share < min_share), len(shares))
        yield Finding(
            rule="dead-relu",
            severity=Severity.ERROR if shares[-1] >= ALL else Severity.WARNING,
            confidence=0.9,
            title=f"{shares[-1]:.0%} of the units of {module} give zero for every sample",
            module=module,
            **line_of(places.get(module)),
            step=steps[began],
            evidence={"silent units": f"{shares[-1]:.1%}", "threshold": f"{min_share:.0%}", "looks": len(shares)},
            why="Their arguments are negative for all the data; where the output is flat the gradient is zero, so they "
            "cannot recover.",
            fix="lower the learning rate, normalise the inputs, or use nn.LeakyReLU() or nn.GELU()",
        )
