"""Most outputs of a hidden sigmoid or tanh lie at one of its limits.

*Symptom*: learning is slow or stops; the layers before the activation hardly move.

*Why it happens*: at its ends a sigmoid or tanh is flat, and next to no gradient passes. Inputs, weights or steps that
are too large push the units there.

*What to try*: normalise the inputs, initialise with ``nn.init.xavier_uniform_``, put a normalisation layer before the
activation, lower the learning rate, or use ReLU or GELU.

*Source*: Glorot and Bengio, AISTATS 2010; Braiek and Khomh, TheDeepChecker, 2023; SageMaker Debugger.
"""

from collections.abc import Iterator

from torchmagic.analyses.breakdown import sound_part
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.structure import SquashRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Outputs within 0.01 of a limit; a healthy layer has a few units there, not four in five.
MIN_SHARE = 0.8
# It must hold at more than half of the looks, the last one among them, and at so many.
MOST_LOOKS = 0.5
MIN_LOOKS = 5


@rule
def saturated_activation(
    run: Run, *, min_share: float = MIN_SHARE, most_looks: float = MOST_LOOKS, min_looks: int = MIN_LOOKS
) -> Iterator[Finding]:
    """Report each hidden sigmoid or tanh whose outputs lie at its limits at most looks."""
    for record in run.of(SquashRecord):
        if not record.is_hidden or record.is_gate:
            continue
        steps, shares = sound_part(run, *run.series("saturated_share", module=record.module))
        flat = [share > min_share for share in shares]
        if len(flat) < min_looks or not flat[-1] or sum(flat) <= most_looks * len(flat):
            continue
        yield Finding(
            rule="saturated-activation",
            severity=Severity.WARNING,
            confidence=0.9,
            title=f"{shares[-1]:.0%} of the outputs of {record.module} lie at the ends of the {record.function}",
            module=record.module,
            **line_of(record.place),
            step=steps[flat.index(True)],
            evidence={
                "outputs within 0.01 of a limit": f"{shares[-1]:.1%}",
                "threshold": f"{min_share:.0%}",
                "looks at which it held": f"{sum(flat)} of {len(flat)}",
            },
            why=f"There the {record.function} is flat: next to no gradient reaches what lies before it.",
            fix="nn.LayerNorm(features) before the activation, smaller inputs and weights, or nn.GELU()",
        )
