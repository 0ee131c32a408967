"""Most units of a rectifier give zero for every sample.

*Symptom*: part of the model does nothing; the loss stops early or stays at the level of chance.

*Why it happens*: a large step or large inputs pushed the weights to where the argument is always negative; there the
gradient is zero, and the unit cannot come back.

*What to try*: lower the learning rate, normalise the inputs, initialise with ``kaiming_normal_``, or use LeakyReLU or
GELU.

*Source*: Lu et al., "Dying ReLU and initialization", 2019; Zhang et al., AUTOTRAINER, ICSE 2021.
"""

from collections.abc import Iterator, Sequence

from torchmagic.analyses.breakdown import sound_part
from torchmagic.analyses.improvement import improvement, last_phase
from torchmagic.analyses.loss_curve import loss_curve
from torchmagic.analyses.objective import NEAR_CHANCE, chance_level
from torchmagic.analyses.source_lines import lines_of_hinges
from torchmagic.analyses.texts import text_around
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import RectifierRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Half the units silent is far beyond the sparsity of a healthy layer; all of them silent stops the gradient.
MIN_SHARE = 0.5
ALL = 1.0
# It must hold at every look in the second half of the run, and at this many: early in a run units come back.
MIN_LOOKS = 3
# Where fewer than this are silent and the loss comes down all the same, by this share, to below the level of mere
# chance, the others do the work: layers that are wide for their data come to this, and learn.
MANY, LEARNS = 0.9, 0.2


@rule
def dead_relu(run: Run, *, min_share: float = MIN_SHARE, min_looks: int = MIN_LOOKS) -> Iterator[Finding]:
    """Report each rectifier of which at least half the units were silent to the end."""
    places = {record.module: record.place for record in run.of(RectifierRecord)}
    for module in run.subjects("dead_share"):
        steps, shares = sound_part(run, *run.series("dead_share", module=module))
        late = [share for step, share in zip(steps, shares, strict=True) if 2 * step >= run.steps]
        if len(late) < min_looks or not all(share >= min_share for share in late):
            continue
        place = places.get(module)
        if place is not None and min(shares) >= ALL and place.line in lines_of_hinges(text_around(run, place)):
            continue  # nothing has gone over the limit yet
        began = len(shares) - next((i for i, share in enumerate(reversed(shares)) if share < min_share), len(shares))
        yield Finding(
            rule="dead-relu",
            severity=_severity(run, late),
            confidence=0.9,
            title=f"{shares[-1]:.0%} of the units of {module} give zero for every sample",
            module=module,
            **line_of(place),
            step=steps[began],
            evidence={"silent units": f"{shares[-1]:.1%}", "threshold": f"{min_share:.0%}", "looks": len(shares)},
            why="Their arguments are negative for all the data; where the output is flat the gradient is zero, so they "
            "cannot recover.",
            fix="lower the learning rate, normalise the inputs, or use nn.LeakyReLU() or nn.GELU()",
        )


def _severity(run: Run, shares: Sequence[float]) -> Severity:
    if shares[-1] >= ALL:
        return Severity.ERROR
    return Severity.INFO if max(shares) < MANY and _learns(run) else Severity.WARNING


def _learns(run: Run) -> bool:
    """Whether the loss of the last phase comes down by much, and not only from far above to where guessing would be."""
    began, chance = last_phase(run), chance_level(run)
    names = [name for name in run.subjects("loss") if max(run.series("loss", name=name)[0], default=0) >= began]
    curve = loss_curve(run, names[0]) if len(names) == 1 else None
    if curve is not None and chance > 0 and not curve.end < NEAR_CHANCE * chance:
        return False
    return improvement(run, after=began) > LEARNS
