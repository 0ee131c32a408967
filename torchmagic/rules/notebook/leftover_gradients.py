"""The first step followed gradients that code before the cell had left.

*Symptom*: the first step of a cell is too large, or goes astray, and later ones do not.

*Why it happens*: an earlier cell called ``backward()`` to look at something, or was stopped between ``backward()`` and
``step()``. ``.grad`` keeps what it got; the first backward of this cell added to it.

*What to try*: call ``optimizer.zero_grad()`` before the first backward of the cell, as loops do that reset at the top.

*Source*: PyTorch documentation, "What does optimizer.zero_grad() do?".
"""

from collections.abc import Iterator

from torchmagic.records.finding import Finding, Severity
from torchmagic.records.notebook import LeftoverGradientsRecord
from torchmagic.rules.rule import rule
from torchmagic.session.run import Run

# Less than this part of the step's gradients changes nothing that a person would see.
MIN_SHARE = 0.01


@rule
def leftover_gradients(run: Run, *, min_share: float = MIN_SHARE) -> Iterator[Finding]:
    """Report each optimizer whose first step followed old gradients."""
    for record in run.of(LeftoverGradientsRecord):
        if record.share < min_share:
            continue
        yield Finding(
            rule="leftover-gradients",
            severity=Severity.INFO,
            confidence=0.9,
            title=f"the first step of {record.optimizer} followed gradients left by earlier code too",
            optimizer=record.optimizer,
            step=0,
            evidence={
                "length of the old over the whole": f"{record.share:.2f}",
                "threshold": min_share,
                "parameters": f"{record.num_parameters} of {record.total}",
            },
            why="Their .grad was not zero before the cell's first backward, which added to it.",
            fix=f"{record.optimizer}.zero_grad()  # before the first backward of the cell",
        )
