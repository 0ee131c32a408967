"""Steps change the weights of a group by a large part of their own size.

*Symptom*: the loss jumps or settles high; what was learned in one step is overwritten in the next.

*Why it happens*: a learning rate that is too large for this group: small weights, large gradients, or a rate that was
meant for another optimizer.

*What to try*: lower the learning rate of the group by ten, or clip gradients; a step that changes weights by about a
thousandth of their size is a healthy one.

*Source*: Karpathy, CS231n notes (ratio of updates to weights); SageMaker Debugger, LargeUpdates.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from torchmagic.analyses.optimizer_lines import built_with, place_of_setting
from torchmagic.analyses.relative_updates import GroupUpdates, group_updates
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import ParameterRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Median update over weights, and the first step that counts (catalogue): before it weights may still find their size.
MAX_RATIO = 0.3
FROM_STEP = 10
# A busy machine measures seldom, and steps differ: the median of few looks may be twice that of all. So many or fewer
# have to be above the threshold each; where they are fewer still, far above it.
FEW_LOOKS, FEWEST_LOOKS, FAR_ABOVE = 8, 4, 3.0
# Fewer weights than this are no layer: a scale or a temperature may swing.
MIN_ELEMENTS = 4


@rule
def update_too_large(run: Run, *, max_ratio: float = MAX_RATIO, from_step: float = FROM_STEP) -> Iterator[Finding]:
    """Report each group of a model's parameters whose steps are as large as the weights."""
    models = {record.name for record in run.of(ParameterRecord)}
    for each in group_updates(run):
        late = each.ratios[each.steps >= each.group.step + from_step]
        if not len(late) or each.from_zero or not _is_layer(each, models):
            continue
        usual = float(np.median(late))
        if not _surely_above(late, max_ratio):
            continue
        yield Finding(
            rule="update-too-large",
            severity=Severity.WARNING,
            confidence=0.8,
            title=f"a step of {each.group.subject} changes its weights by {usual:.0%} of their size",
            parameter=each.group.parameters[0],
            optimizer=each.group.optimizer,
            **line_of(place_of_setting(run, each.group, "lr")),
            step=each.group.step + int(from_step),
            evidence={
                "median update over weights": usual,
                "threshold": max_ratio,
                "looks": len(late),
                "learning rate": each.group.lr if each.group.lr is not None else "not known",
            },
            why="The direction of a gradient holds near the weights at which it was taken; so long a step leaves it.",
            fix=built_with(run, each.group, "lr", (each.group.lr or 0.1) / 100),
        )


def _surely_above(ratios: NDArray[np.float64], limit: float) -> bool:
    """Whether the median over all steps is above a limit, as far as the looks at some of them can tell."""
    if len(ratios) > FEW_LOOKS:
        return float(np.median(ratios)) > limit
    return float(ratios.min()) > (limit if len(ratios) >= FEWEST_LOOKS else FAR_ABOVE * limit)


def _is_layer(updates: GroupUpdates, models: set[str]) -> bool:
    """Whether the group holds weights of a model, and not a picture or a code that is optimised by itself."""
    return updates.group.num_elements >= MIN_ELEMENTS and any(name in models for name in updates.group.parameters)
