"""What the model says of one sample changes when another sample of the batch does.

*Symptom*: results depend on the batch size and on the order of the data; training looks fine and evaluation is bad.

*Why it happens*: samples and something else changed places: ``reshape`` or ``view`` where ``transpose`` was meant, a
recurrent or attention layer that takes the first dimension for time (``batch_first=False``), or a softmax or mean over
dimension 0.

*What to try*: write ``x.transpose(0, 1)`` or ``x.permute(...)`` to change the order of dimensions, pass
``batch_first=True``, and give ``dim=-1`` or ``dim=1`` instead of ``dim=0``.

*Source*: Karpathy, "A recipe for training neural networks", 2019 (use backprop to chart dependencies); torchtest.
"""

from collections.abc import Iterator

from torchmagic.analyses.mixing_lines import MIXING, PARAMETERS, lines_building_time_first
from torchmagic.analyses.texts import places_by
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import ParameterRecord
from torchmagic.records.structure import MixedRowsRecord
from torchmagic.rules.rule import only_line, rule
from torchmagic.session.run import Run

# Changes of other rows below this share of the changed row's own may be rounding.
MIN_CHANGE = 1e-3


@rule
def batch_mixing(run: Run, *, min_change: float = MIN_CHANGE) -> Iterator[Finding]:
    """Report each model in which one changed row of a batch changed others."""
    for record in run.of(MixedRowsRecord):
        if record.change < min_change:
            continue
        shown = record.place is not None and MIXING.search(record.place.source)
        built = [] if shown or not _is_sequential(run, record.module) else places_by(run, lines_building_time_first)
        yield Finding(
            rule="batch-mixing",
            severity=Severity.WARNING,
            confidence=0.9,
            title=f"{record.module} mixes the samples of a batch: with one changed, {record.num_changed} others change",
            module=record.module,
            **only_line(built, record.place),
            step=record.step,
            evidence={
                "rows tried": record.num_rows,
                "other rows that changed": record.num_changed,
                "greatest change, beside the changed row's own": record.change,
                "threshold": min_change,
            },
            why="In evaluation mode the same rows were run twice with only one of them changed: each of the others "
            "should have stayed as it was.",
            fix="batch_first=True  # as the samples come first in what it is given"
            if len(built) == 1
            else "x.transpose(0, 1) instead of reshape; batch_first=True; softmax(dim=1)",
        )


def _is_sequential(run: Run, module: str) -> bool:
    """Whether a module is, or holds, a layer of torch that takes the first dimension for time."""
    names = (each.name for each in run.of(ParameterRecord) if each.name.startswith(f"{module}."))
    return any(name.endswith(PARAMETERS) for name in names)
