"""Dropout called as a function stays active in evaluation mode.

*Symptom*: predictions differ from call to call although ``eval()`` was called; scores are lower than they should be.

*Why it happens*: ``F.dropout`` knows nothing of the module it stands in; its ``training`` is True unless it is told.
``F.scaled_dot_product_attention`` drops with the probability that it is given, in any mode.

*What to try*: ``F.dropout(x, p, training=self.training)``, or use ``nn.Dropout`` as a module; for attention
``dropout_p=self.p if self.training else 0.0``.

*Source*: PyTorch documentation of ``torch.nn.functional.dropout`` and ``scaled_dot_product_attention``; PyTorch forum,
"F.dropout and model.eval()".
"""

from collections.abc import Iterator

from torchmagic.records.evaluation import AwakeDropoutRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

ATTENTION = "scaled_dot_product_attention"


@rule
def functional_dropout_in_eval(run: Run) -> Iterator[Finding]:
    """Report each line that dropped values inside a module in evaluation mode."""
    for record in run.of(AwakeDropoutRecord):
        of_attention = record.function == ATTENTION
        what = "weights of attention" if of_attention else "values"
        yield Finding(
            rule="functional-dropout-in-eval",
            severity=Severity.WARNING,
            confidence=0.93,
            title=f"dropout drops {record.p:.0%} of the {what} in {record.module}, which is in evaluation mode",
            module=record.module,
            **line_of(record.place),
            step=record.step,
            evidence={"calls": record.times, "p": record.p, "threshold": 1},
            why="The function drops with the probability that it is given; eval() does not reach it."
            if of_attention
            else "The function is active unless it is given training=False; eval() does not reach it.",
            fix=f"F.{ATTENTION}(q, k, v, dropout_p=self.p if self.training else 0.0)"
            if of_attention
            else "F.dropout(x, p, training=self.training)",
        )
