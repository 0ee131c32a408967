"""Parameters get gradients, but their optimizer never steps.

*Symptom*: the loss wanders around its first value; no parameter changes.

*Why it happens*: ``backward()`` only fills ``.grad``; the parameters change in ``optimizer.step()``, which is missing
from the loop, or stands where it is never reached.

*What to try*: call ``optimizer.step()`` after ``backward()``.

*Source*: PyTorch documentation, "Optimizing Model Parameters"; Humbatova et al., "Taxonomy of real faults in deep
learning systems", ICSE 2020 (missing API call).
"""

from collections.abc import Iterator

from torchmagic.analyses.gradient_lines import reads_gradients
from torchmagic.analyses.source_calls import calls_on
from torchmagic.analyses.syntax import if_around
from torchmagic.analyses.texts import beside, says, text_around, texts_of
from torchmagic.analyses.uncalled_methods import told_at_uncalled
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.loop import UnsteppedRecord
from torchmagic.records.model import OptimizerRecord
from torchmagic.records.objective import ObjectiveRecord
from torchmagic.records.place import Place
from torchmagic.records.reach import ReachRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run, Status

# The catalogue asks for three iterations. A step that the code does contain may wait for many batches to add up.
MIN_ITERATIONS = 3
WAITING_ITERATIONS = 32


@rule
def step_missing(
    run: Run, *, min_iterations: int = MIN_ITERATIONS, waiting_iterations: int = WAITING_ITERATIONS
) -> Iterator[Finding]:
    """Report each optimizer that was used in every way but the one that counts."""
    if run.status in (Status.ERROR, Status.INTERRUPTED, Status.LOST):
        return  # its step may just not have come yet
    for record in run.of(UnsteppedRecord):
        used = bool(record.resets or record.scheduled or record.built)
        iterations = record.iterations if used else record.alone
        if iterations < min_iterations or record.changed or _is_meant(run, record):
            continue
        if not used and not _trains(run, record, min_iterations, waiting_iterations):
            continue
        if iterations < waiting_iterations and _has_step(run, record):
            continue
        place = _condition(run, record.waiting) or record.schedule or record.backward
        finding = Finding(
            rule="step-missing",
            severity=Severity.ERROR,
            confidence=0.9 if record.resets or record.scheduled else 0.8,
            title=f"{record.optimizer} never steps, although its parameters got gradients in at least "
            f"{iterations} iterations",
            module=record.module or None,
            optimizer=record.optimizer,
            **line_of(place),
            step=0,
            evidence={
                "iterations with gradients": iterations,
                "threshold": min_iterations,
                "steps": 0,
                "resets": record.resets,
                "steps of schedulers": record.scheduled,
            },
            why="backward() computes gradients, but only step() changes the parameters, and nothing else has.",
            fix=f"{record.optimizer}.step()  # after backward()"
            if record.waiting is None
            else f"# look at the if around line {record.waiting.line}, {record.waiting.source}: it was never true",
        )
        yield told_at_uncalled(run, finding, "step", name=record.optimizer)


def _condition(run: Run, waiting: Place | None) -> Place | None:
    """Return the line of the ``if`` that was never true around a step; the step's own line where none is found."""
    return beside(run, waiting, if_around(text_around(run, waiting), waiting.line)) if waiting is not None else None


def _trains(run: Run, record: UnsteppedRecord, min_iterations: int, waiting_iterations: int) -> bool:
    """Whether gradients of an optimizer that the run never touches are made as one does to train.

    A criterion gives them, in training mode, and they are reset in between, or pile up for long.
    """
    if record.evaluated or record.inspected:
        return False
    if record.wiped < min_iterations - 1 and record.alone < waiting_iterations:
        return False
    objectives = [each for each in run.of(ObjectiveRecord) if each.place == record.backward]
    return bool(objectives) and all(each.criteria and not each.log_prob for each in objectives)


def _has_step(run: Run, record: UnsteppedRecord) -> bool:
    """Whether the source has a step that may be this optimizer's, and may still wait for its turn."""
    name = record.optimizer.rpartition(".")[2]
    steps = {each.name.rpartition(".")[2] for each in run.of(OptimizerRecord)}
    lines = [call for text in texts_of(run) for call in calls_on(text, "step")]
    schedule = record.schedule.line if record.schedule else 0
    if name == record.class_name:  # it has no name of its own
        return any(line != schedule and not named & steps for line, named in lines)
    return any(name in named for _, named in lines)


def _is_meant(run: Run, record: UnsteppedRecord) -> bool:
    """Whether the gradients themselves are what is wanted: of inputs, or to be looked at."""
    place = record.backward
    reached = [each for each in run.of(ReachRecord) if each.place == place]
    if reached and all(each.num_other_leaves and each.num_reached for each in reached):
        return True
    return not record.scheduled and says(run, reads_gradients)
