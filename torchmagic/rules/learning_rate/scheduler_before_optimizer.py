"""The scheduler is stepped before the optimizer's first step.

*Symptom*: the first value of the schedule is never used; milestones come an epoch early. PyTorch warns once.

*Why it happens*: since PyTorch 1.1 a schedule is set up by its constructor, and ``scheduler.step()`` belongs after
``optimizer.step()``. Older code has it at the top of the epoch.

*What to try*: move ``scheduler.step()`` behind the loop over batches, or behind ``optimizer.step()`` for a schedule
that counts batches.

*Source*: PyTorch documentation, "How to adjust learning rate"; the UserWarning of ``lr_scheduler`` since 1.1.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from torchmagic.analyses.schedule_names import schedule_name, scheduled_optimizer
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import OptimizerRecord
from torchmagic.records.schedule import ScheduleRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# A step that is given where it stands, such as ``step(epoch + i / len(loader))``.
TOLD = re.compile(r"[\w.]+\.step\([^()\s](?:[^()]|\([^()]*\))*\)")


@rule
def scheduler_before_optimizer(run: Run) -> Iterator[Finding]:
    """Report each line at which a scheduler's first step came too early, where the optimizer stepped later."""
    told = set()
    for record in run.of(ScheduleRecord):
        if not record.before_optimizer or record.scaled or record.place in told or not run.steps:
            continue  # a scaler may have skipped the optimizer's step; without any step a schedule is only drawn
        if _waits(run, record):
            continue
        told.add(record.place)
        name, optimizer = schedule_name(run, record), scheduled_optimizer(run, record)
        call = TOLD.search(record.place.source) if record.place is not None and not record.metric else None
        yield Finding(
            rule="scheduler-before-optimizer",
            severity=Severity.WARNING,
            confidence=0.95,
            title=f"{name}.step() runs before the first step of {optimizer}",
            optimizer=record.optimizer,
            **line_of(record.place),
            step=record.step,
            evidence={"scheduler": record.class_name, "optimizer steps before it": record.step or 0},
            why="torch warns of this order. A step that is told where it stands, as here, loses no rate; others do."
            if call
            else "The constructor has already set the first rate; this step goes on to the second before the first one "
            "was ever used.",
            fix=f"{call.group()}  # after {optimizer}.step(), in the same loop"
            if call
            else f"{optimizer}.step()  # for all batches of the epoch, and only then {name}.step()",
        )


def _waits(run: Run, record: ScheduleRecord) -> bool:
    """Whether the optimizer had nothing to step on yet, as while a replay buffer fills, and each later step of it came.

    Once it steps, it does so between any two steps of the schedule, which had several before, or stands below.
    """
    steps, _ = run.series("schedule_steps", name=record.name)
    early = sum(step <= (record.step or 0) for step in steps)
    late = [step for step in steps if step > (record.step or 0)]
    if not late or any(before == after for before, after in pairwise(late)):
        return False
    own = next((each.place for each in run.of(OptimizerRecord) if each.name == record.optimizer), None)
    place = record.place
    below = own is not None and place is not None and own.function == place.function and own.line < place.line
    return early > 1 or below
