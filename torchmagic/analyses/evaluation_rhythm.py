"""This file tells evaluations from forwards without gradients that are part of each step."""

from collections.abc import Sequence
from itertools import pairwise

from torchmagic.records.evaluation import EvaluationRecord
from torchmagic.records.model import LoaderRecord, OptimizerRecord
from torchmagic.session.run import Run

# A step looks at a few batches, such as two views of unlabelled data; a pass over a data set at more.
MOST_BATCHES = 4
# Share of the passes that began at the step after the one before.
MOST_AT_EVERY_STEP = 0.8


def is_part_of_steps(run: Run, records: Sequence[EvaluationRecord]) -> bool:
    """Whether passes come at every step on ever new data, as pseudo-labels and targets of a training method do.

    A pass at every step that always begins with the same tensor is an evaluation: of a loop on the whole data set. So
    is one that measures a loss on all batches of a loader that is not trained on.

    Args:
        run: The run.
        records: The passes of one line, in order.
    """
    if len(records) < 2 or any(record.num_batches > MOST_BATCHES for record in records):  # noqa: PLR2004 - a rhythm
        return False
    again = sum(record.same_input for record in records)
    if 2 * again >= len(records) - 1:
        return False
    if all(_is_whole(run, record) for record in records):
        return False
    close = sum(later.step - earlier.step <= 1 for earlier, later in pairwise(records))
    return close >= MOST_AT_EVERY_STEP * (len(records) - 1)


def _is_whole(run: Run, record: EvaluationRecord) -> bool:
    """Whether a pass measured a loss on each batch of a loader that nothing is trained on."""
    if record.grad_enabled or record.trained_on or record.num_losses < record.num_batches:
        return False
    return any(each.num_batches == record.num_batches for each in run.of(LoaderRecord) if each.name == record.loader)


def adversaries_train(run: Run) -> bool:
    """Whether two optimizers train different parameters, as those of a generator and a discriminator."""
    owned = [set(record.parameters) for record in run.of(OptimizerRecord)]
    return any(first.isdisjoint(second) for i, first in enumerate(owned) for second in owned[i + 1 :])
