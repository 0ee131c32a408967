"""Reading values from tensors one by one takes a good part of the time.

*Symptom*: a line with ``.item()``, ``float(t)``, ``if t:`` or ``print(t)`` is among the dearest, although it computes
nothing.

*Why it happens*: each read stops the program until the value is there. On an accelerator all that was queued before has
to be done first; in a loop over samples even the many small reads themselves add up.

*What to try*: keep the values in a tensor, ``total += loss.detach()``, compare whole batches at a time, and read once
at the end of an epoch. Print in one step of many.

*Source*: PyTorch performance tuning guide, "Avoid unnecessary CPU-GPU synchronization".
"""

from collections.abc import Iterator, Sequence

from torchmagic.analyses.counting import counted
from torchmagic.analyses.operator_kinds import LOADING_FUNCTIONS, READS
from torchmagic.analyses.profile_costs import LEAST_GAIN, Profile, profile_of, shown
from torchmagic.analyses.savings import saved, saves
from torchmagic.records.costs import LineCost
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Optimizers read their counts of steps by themselves, and datasets their labels.
PHASES = ("transfer", "forward", "backward", "other")
# So many reads a step are a loop over values, and so little is computed there for each (seconds of operators): then
# the whole line is what reading one by one costs.
LOOP, LITTLE = 8, 2e-5
# The same of a line that prints: torch reads so many values of a tensor at least, and computes how to write them.
PRINTS, PRINTED, LITTLE_TO_PRINT = ("print(", "display(", "logging.", "logger."), 5, 1e-4
CONDITIONS = ("if ", "elif ")
# Lines told, the dearest first.
MOST_LINES = 3


@rule
def host_reads(run: Run, *, min_share: float = LEAST_GAIN) -> Iterator[Finding]:
    """Report each line that spends much time on reading values."""
    profile = profile_of(run)
    if profile is None:
        return
    seconds = _seconds(profile)
    lines = [line for line in profile.costs.lines if line.reads and _is_the_users(line)]
    reads = sum(line.reads for line in lines)
    costs = [(_cost(profile, line, seconds / reads), line) for line in lines]
    worth = [each for each in costs if profile.share(each[0]) >= min_share]
    for cost, line in sorted(worth, key=lambda each: -each[0])[:MOST_LINES]:
        yield _finding(profile, line, cost, min_share, [cost for cost, _ in costs])


def _seconds(profile: Profile) -> float:
    """Return what the reads took on the host, its waiting for an accelerator included."""
    inner = READS[-1]
    found = profile.operators(READS, PHASES)
    return sum(each.total if each.name == inner else each.own for each in found)


def _cost(profile: Profile, line: LineCost, seconds: float) -> float:
    """Return what the reads of a line cost, of which each takes so long by itself."""
    prints = _prints(line) and line.reads >= PRINTED * line.calls and line.operators <= LITTLE_TO_PRINT * line.reads
    loops = _loops(profile, line) and line.operators <= LITTLE * line.reads
    return line.own if prints or loops else min(seconds * line.reads, line.total)


def _prints(line: LineCost) -> bool:
    return line.place.source.startswith(PRINTS)


def _loops(profile: Profile, line: LineCost) -> bool:
    return line.reads >= LOOP * profile.steps


def _is_the_users(line: LineCost) -> bool:
    return line.place.function not in LOADING_FUNCTIONS and ".step(" not in line.place.source


def _saving(profile: Profile, cost: float) -> float:
    """Return what is won back: of an accelerator no more than the time in which it had nothing to do."""
    window = profile.window
    return cost if window.device == "cpu" else max(0.0, min(cost, window.seconds - window.busy))


def _finding(profile: Profile, line: LineCost, cost: float, min_share: float, of_lines: Sequence[float]) -> Finding:
    count = round(line.reads / profile.steps)
    least = "" if line.complete else "at least "
    often = f"{least}{counted(count, 'value')}{' a step' if profile.window.steps else ''}"
    saving = _saving(profile, cost)
    total = {"lines that read": len(of_lines), "seconds of all of them": float(f"{sum(of_lines):.3g}")}
    return Finding(
        rule="host-reads",
        severity=Severity.INFO,
        confidence=0.9,
        title=f"reading {often} on the host takes {profile.told(cost)}{saved(profile, saving, cost=cost)}",
        **line_of(shown(line.place)),
        evidence=profile.evidence(cost, min_share)
        | saves(profile, saving)
        | {"reads": line.reads, "seconds of the line": float(f"{line.total:.3g}")}
        | (total if len(of_lines) > 1 else {}),
        why="Each read waits for its value, and what comes next has to wait with it.",
        fix=_fix(profile, line),
    )


def _fix(profile: Profile, line: LineCost) -> str:
    if _prints(line):
        return "if step % 100 == 0:  # around this line"
    if _loops(profile, line):
        return "one operator on all values, such as (guess == y).sum(), and one .item()  # not one for each value"
    if line.place.source.startswith(CONDITIONS):
        return "if step % 100 == 0 and ...:  # so that it is not looked at in each step"
    return "total += value.detach()  # and total.item() once, after the loop"
