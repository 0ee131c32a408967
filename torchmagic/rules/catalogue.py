"""This file is the catalogue: the list of all rules, what follows from what, and the judgement of a run."""

from collections.abc import Callable
from dataclasses import replace

from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.loss.loss_broadcast import loss_broadcast
from torchmagic.rules.loss.softmax_before_cross_entropy import softmax_before_cross_entropy
from torchmagic.rules.model.dead_relu import dead_relu
from torchmagic.rules.modes.eval_mode_training import eval_mode_training
from torchmagic.rules.numerics.exploding_gradient import exploding_gradient
from torchmagic.rules.numerics.nonfinite_forward import nonfinite_forward
from torchmagic.rules.numerics.nonfinite_gradient import nonfinite_gradient
from torchmagic.rules.numerics.nonfinite_input import nonfinite_input
from torchmagic.rules.parameters.param_not_in_optimizer import param_not_in_optimizer
from torchmagic.rules.rule import Rule
from torchmagic.rules.training_loop.missing_zero_grad import missing_zero_grad
from torchmagic.session.run import Run

RULES: tuple[Rule, ...] = (
    missing_zero_grad,
    param_not_in_optimizer,
    eval_mode_training,
    softmax_before_cross_entropy,
    loss_broadcast,
    nonfinite_input,
    nonfinite_forward,
    nonfinite_gradient,
    exploding_gradient,
    dead_relu,
)
# A finding of the first rule follows from findings of the others in the same run, when there are any.
FOLLOWS_FROM: dict[str, tuple[str, ...]] = {
    "exploding-gradient": ("missing-zero-grad", "nonfinite-input"),
    "nonfinite-forward": ("nonfinite-input", "exploding-gradient", "missing-zero-grad"),
    "nonfinite-gradient": ("nonfinite-input", "exploding-gradient", "missing-zero-grad"),
    "dead-relu": ("exploding-gradient", "missing-zero-grad", "nonfinite-forward"),
}
_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


def judge(run: Run, on_failure: Callable[[str, Exception], None]) -> tuple[Finding, ...]:
    """Return all findings of a run: roots before what follows from them, then by severity and confidence.

    Args:
        run: The run.
        on_failure: Told the id of a rule that raised, and the exception; the other rules go on.
    """
    found: list[Finding] = []
    for each in RULES:
        try:
            found.extend(each(run))
        except Exception as error:  # noqa: BLE001 - the wall: a rule's failure is never the user's
            on_failure(each.id, error)
    return _in_order(_with_causes(found))


def _with_causes(findings: list[Finding]) -> list[Finding]:
    present = {finding.rule for finding in findings}
    return [_led_back(finding, present) for finding in findings]


def _led_back(finding: Finding, present: set[str]) -> Finding:
    """Name the findings that this one follows from; what follows from them needs no cure of its own.

    Only numbers that are no numbers stay as loud as they are, whatever they follow from.
    """
    causes = tuple(cause for cause in FOLLOWS_FROM.get(finding.rule, ()) if cause in present)
    if not causes:
        return finding
    broken = finding.severity is Severity.ERROR and finding.rule.startswith(("nonfinite", "exploding"))
    milder = finding.severity if broken else Severity.INFO
    return replace(finding, causes=causes, severity=milder)


def _in_order(findings: list[Finding]) -> tuple[Finding, ...]:
    key = lambda finding: (bool(finding.causes), _ORDER[finding.severity], -finding.confidence)  # noqa: E731 - a key
    return tuple(sorted(findings, key=key))
