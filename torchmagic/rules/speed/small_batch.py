"""Most of a step's time is the same however small its batch is.

*Symptom*: the short last batch of an epoch takes as long as a full one.

*Why it happens*: each step has fixed costs: Python, the start of every operator, the optimizer's work on all weights.
With few rows they are most of it, and the machine has room for more rows in the same time.

*What to try*: a larger ``batch_size``, as far as memory and the result allow; the learning rate may then be larger too.
``torchmagic.find_batch_size`` measures from which size on nothing more is won.

*Source*: PyTorch performance tuning guide; NVIDIA, "Deep Learning Performance Documentation", on batch size.
"""

from collections.abc import Iterator

from torchmagic.analyses.profile_costs import Profile, duration, profile_of, shown
from torchmagic.analyses.savings import saved, saves
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.speed import BatchTime, BatchTimesRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Of a usual step's time, what does not depend on its rows.
MIN_SHARE = 0.7
# Steps of the usual size, and of a smaller one, that have to be there for the fastest of them to mean something.
MIN_USUAL, MIN_SMALL = 8, 3
# A batch that is not much smaller says little about one of no rows.
MOST_ROWS = 0.5


@rule
def small_batch(
    run: Run, *, min_share: float = MIN_SHARE, min_usual: int = MIN_USUAL, min_small: int = MIN_SMALL
) -> Iterator[Finding]:
    """Report that steps with fewer rows took nearly as long as the usual ones."""
    profile = profile_of(run)
    if profile is None:
        return
    for record in run.of(BatchTimesRecord):
        usual = max(record.times, key=lambda each: each.steps * each.rows, default=None)
        if usual is None or record.device != "cpu" or usual.steps < min_usual or usual.seconds <= 0:
            continue
        few = [each for each in record.times if each.steps >= min_small and each.rows <= MOST_ROWS * usual.rows]
        small = max(few, key=lambda each: each.steps, default=None)
        if small is not None and _fixed(usual, small) >= min_share * usual.seconds:
            yield _finding(profile, record, usual, small, min_share)


def _fixed(usual: BatchTime, small: BatchTime) -> float:
    """Return the seconds of a step of no rows, on the straight line through both."""
    a_row = max(0.0, usual.seconds - small.seconds) / (usual.rows - small.rows)
    return usual.seconds - a_row * usual.rows


def _finding(
    profile: Profile, record: BatchTimesRecord, usual: BatchTime, small: BatchTime, min_share: float
) -> Finding:
    share = _fixed(usual, small) / usual.seconds
    saving = share / 2 * profile.window.seconds  # twice the rows in a step are half the steps
    return Finding(
        rule="small-batch",
        severity=Severity.INFO,
        confidence=0.6,
        title=f"the fastest step of {small.rows:,} rows took {duration(small.seconds)} and of {usual.rows:,} rows "
        f"{duration(usual.seconds)}{saved(profile, saving, cost=profile.window.seconds)}",
        **line_of(shown(record.place)),
        evidence={
            "of a step, without regard to its rows": f"{share:.0%}",
            "steps compared": f"{usual.steps} and {small.steps}",
            "threshold": f"{min_share:.0%}",
        }
        | saves(profile, saving),
        why="Most of a step is fixed cost, which a larger batch would share among more rows.",
        fix=f"batch_size={2 * usual.rows}  # as far as memory and the result allow",
    )
