"""The first layer is given raw numbers: large ones, or features of very different scales.

*Symptom*: the loss begins in the hundreds, jumps or stands still; activations saturate or die.

*Why it happens*: weights are initialised for inputs of mean 0 and deviation 1. A feature a thousand times larger than
another decides everything, and no learning rate suits both.

*What to try*: ``x = (x - mean) / std`` with the training set's own numbers, pixels divided by 255, or a ``BatchNorm``
as the first layer.

*Source*: LeCun et al., "Efficient BackProp", 1998; Schoop et al., UMLAUT, CHI 2021 (input normalisation).
"""

import math
import statistics
from collections.abc import Iterator

from torchmagic.analyses.data_lines import origin_line
from torchmagic.analyses.texts import beside, text_around
from torchmagic.records.feeding import FirstLayerRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import Located, line_of, rule
from torchmagic.session.run import Run

# Mean magnitude of one feature; what is normalised is near 1, and even raw grey values of 0 to 16 are far below.
MAX_SCALE = 50.0
# Scale of the largest feature over that of the smallest one; where none is larger than normalised ones are, the small
# ones disturb nobody.
MAX_SPREAD, NORMAL = 1000.0, 2.0
# What pixels of a byte go up to.
PIXEL = 255


@rule
def input_not_normalised(
    run: Run, *, max_scale: float = MAX_SCALE, max_spread: float = MAX_SPREAD
) -> Iterator[Finding]:
    """Report each first layer that is given raw numbers."""
    for module in dict.fromkeys(record.module for record in run.of(FirstLayerRecord)):
        records = [record for record in run.of(FirstLayerRecord) if record.module == module]
        first = records[0]
        scale = statistics.median(record.scale for record in records)
        spread = statistics.median(record.spread for record in records)
        if all(record.frozen for record in records) or "norm" in first.class_name.lower():
            continue  # what was trained elsewhere decides how it wants its inputs
        finite = all(math.isfinite(each) for each in (scale, spread, first.low, first.high))
        if not finite or not (scale > max_scale or (spread > max_spread and scale > NORMAL)):
            continue  # where numbers that are none come from is another matter
        what = (
            f"average {scale:.3g} in size in one feature"
            if scale > max_scale
            else f"differ {spread:.3g} times in scale"
        )
        yield Finding(
            rule="input-not-normalised",
            severity=Severity.WARNING,
            confidence=0.9 if scale > max_scale else 0.8,
            title=f"the inputs of {module} {what}",
            module=module,
            **_located(run, first),
            step=first.step,
            evidence={
                "largest feature, mean size": scale,
                "threshold": max_scale,
                "scales, largest over smallest": spread,
                "threshold of these": max_spread,
                "values": f"{first.low:g} to {first.high:g}",
            },
            why="Weights begin as if inputs had mean 0 and deviation 1; with these, the large features decide "
            "everything.",
            fix=_fix(first),
        )


def _fix(record: FirstLayerRecord) -> str:
    """Return how to bring such inputs to size: pixels by the most they can be, else each feature or channel alone."""
    dims = next((int(each) for each in "123" if record.class_name.endswith(f"Conv{each}d")), 0)
    if not dims:
        return "x = (x - x.mean(0)) / x.std(0)  # or nn.BatchNorm1d(num_features) as the first layer"
    if record.low >= 0 and NORMAL < record.high <= PIXEL:
        return f"x = x / {PIXEL}"
    over = (0, *range(2, 2 + dims))
    return (
        f"x = (x - x.mean({over}, keepdim=True)) / x.std({over}, keepdim=True)"
        f"  # or nn.BatchNorm{dims}d(num_channels) as the first layer"
    )


def _located(run: Run, record: FirstLayerRecord) -> Located:
    """Return the line that makes the data, in this cell or an earlier one, else the one that calls the model."""
    if record.place is not None and (text := text_around(run, record.place)):
        line = origin_line(text, record.place, record.model)
        if line is not None:
            return line_of(beside(run, record.place, line))
    return line_of(record.made or record.place)
