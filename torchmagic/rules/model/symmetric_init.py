"""All units of a layer begin with the same weights, get the same gradients, and stay the same.

*Symptom*: the loss falls a little and stops; a wide layer does no better than one of a single unit.

*Why it happens*: units that are alike compute the same and are corrected alike. Only different initial values let them
become different; a constant gives none.

*What to try*: leave the initialisation that the layer comes with, or use ``nn.init.kaiming_normal_`` or
``nn.init.xavier_uniform_``. A constant is right for biases only.

*Source*: Goodfellow, Bengio and Courville, "Deep Learning", section 8.4; Nikanjam et al., NeuraLint, TOSEM 2021.
"""

from collections.abc import Iterator

from torchmagic.analyses.counting import few
from torchmagic.analyses.equal_units import EqualUnitsHistory, equal_units, line_of_filling
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# The catalogue's number: after so many steps any difference in the gradients has shown.
MIN_STEPS = 5
# Biases that are drawn at random part the units a little; with so little they are still about the same.
MAX_DRIFT = 0.1
# In one layer a constant may be meant; in two, the whole model was filled.
MIN_FILLED = 2
LAYERS = frozenset({"Linear", "Conv1d", "Conv2d", "Conv3d"})


@rule
def symmetric_init(run: Run, *, min_steps: int = MIN_STEPS, max_drift: float = MAX_DRIFT) -> Iterator[Finding]:
    """Report, per model, the first layer whose units began alike and still are."""
    histories = [each for each in equal_units(run) if each.steps >= min_steps and each.has_gradient]
    for model in dict.fromkeys(each.model for each in histories):
        weights = [each for each in histories if each.model == model]
        alike = [each for each in weights if each.stays_equal and not each.stays_zero]
        filled = [each for each in weights if each.is_filled and each.class_name in LAYERS]
        near = [each for each in filled[:-1] if each.drift <= max_drift] if len(filled) >= MIN_FILLED else []
        found = alike or near
        if found:
            yield _finding(run, found, min_steps, sure=bool(alike))


def _finding(run: Run, found: list[EqualUnitsHistory], min_steps: int, *, sure: bool) -> Finding:
    weight, *others = found
    name = weight.module or weight.parameter
    same = "the same weights" if sure else "nearly the same weights"
    return Finding(
        rule="symmetric-init",
        severity=Severity.ERROR,
        confidence=0.95 if sure else 0.75,
        title=f"the {weight.num_units} units of {name} began alike and have {same} after {weight.steps} steps",
        module=weight.module or None,
        parameter=weight.parameter,
        **line_of(line_of_filling(run, weight)),
        step=weight.first_step,
        evidence={
            "units": weight.num_units,
            "steps": weight.steps,
            "threshold": min_steps,
            "how far units were apart after a few steps": f"{weight.drift:.1%}",
            "other layers like it": few([each.module for each in others]) or "none",
        },
        why="What begins alike gets the same gradient at each step: the layer works as a single unit.",
        fix=f"nn.init.kaiming_normal_({weight.parameter})  # or the initialisation that the layer comes with",
    )
