"""A line takes much of the time and computes nothing with torch.

*Symptom*: one line of the loop is among the dearest, and no operator of torch runs in it.

*Why it happens*: it draws, prints, writes a file, sleeps, waits for a network, or works in Python on what tensors could
do at once; and it does so in every step.

*What to try*: do it in one step of many, ``if step % 100 == 0:``, or after the loop.

*Source*: PyTorch performance tuning guide, which begins with "Disable debugging APIs" and other work beside the model.
"""

from collections.abc import Iterator

from torchmagic.analyses.loading_costs import loading_lines
from torchmagic.analyses.profile_costs import Profile, profile_of, shown
from torchmagic.analyses.savings import saved, saves
from torchmagic.records.compilation import CompilationRecord
from torchmagic.records.costs import LineCost
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.speed import ForwardRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

MIN_SHARE = 0.1
# Any line may lose some milliseconds to another program; one that is slow by itself is so each time.
MIN_SECONDS, MIN_RUNS = 0.02, 3
# Of the line's own time, what operators may take.
MOST_OPERATORS = 0.25
# Of the time, that an accelerator may be busy: what the host does meanwhile delays nothing.
MOST_BUSY = 0.7
# Lines that hold others, and calls that run torch's own code: their time is told elsewhere.
HOLDERS = ("for ", "while ", "with ", "async ")
CALLS = (".backward(", ".step(", ".zero_grad(", "next(", "yield")
MOST_LINES = 3


@rule
def slow_line(
    run: Run,
    *,
    min_share: float = MIN_SHARE,
    min_seconds: float = MIN_SECONDS,
    min_runs: int = MIN_RUNS,
    most_operators: float = MOST_OPERATORS,
    most_busy: float = MOST_BUSY,
) -> Iterator[Finding]:
    """Report the dearest lines whose time is not torch's."""
    profile = profile_of(run)
    if profile is None or not profile.trains or _hides_operators(run):
        return
    if profile.window.device != "cpu" and profile.share(profile.window.busy) > most_busy:
        return
    loading = {line.place for line in loading_lines(profile.costs)} | {each.place for each in profile.costs.loaders}
    lines = [line for line in profile.costs.lines if line.place not in loading and _is_plain(line.place.source)]
    idle = [line for line in lines if line.operators <= most_operators * line.own and not (line.backward or line.reads)]
    for line in sorted(idle, key=lambda each: -_cost(each))[:MOST_LINES]:
        if profile.share(_cost(line)) >= min_share and _cost(line) >= min_seconds and line.calls >= min_runs:
            yield _finding(profile, line, min_share)


def _hides_operators(run: Run) -> bool:
    """Whether compiled code runs, whose operators the profiler does not see one by one."""
    return bool(run.of(CompilationRecord)) or any(record.compiled for record in run.of(ForwardRecord))


def _is_plain(source: str) -> bool:
    return bool(source) and not source.startswith(HOLDERS) and not any(call in source for call in CALLS)


def _cost(line: LineCost) -> float:
    return line.own - line.operators


def _finding(profile: Profile, line: LineCost, min_share: float) -> Finding:
    return Finding(
        rule="slow-line",
        severity=Severity.INFO,
        confidence=0.8,
        title=f"a line without operators of torch takes {profile.told(_cost(line))}"
        + saved(profile, _cost(line), cost=_cost(line)),
        **line_of(shown(line.place)),
        evidence=profile.evidence(_cost(line), min_share) | saves(profile, _cost(line)) | {"runs": line.calls},
        why="Nothing of it is the model's work, and the training waits until it is done.",
        fix="if step % 100 == 0:  # around this line, or do it once after the loop",
    )
