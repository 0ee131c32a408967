"""Reading values from tensors one by one takes a good part of the time.

*Symptom*: a line with ``.item()``, ``float(t)`` or ``if t:`` is among the dearest, although it computes nothing.

*Why it happens*: each read stops the program until the value is there. On an accelerator all that was queued before has
to be done first; in a loop over samples even the many small reads themselves add up.

*What to try*: keep the values in a tensor, ``total += loss.detach()``, compare whole batches at a time, and read once
at the end of an epoch.

*Source*: PyTorch performance tuning guide, "Avoid unnecessary CPU-GPU synchronization".
"""

from collections.abc import Iterator

from torchmagic.analyses.operator_kinds import LOADING_FUNCTIONS, READS
from torchmagic.analyses.profile_costs import LEAST_GAIN, Profile, profile_of, shown
from torchmagic.records.costs import LineCost
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Optimizers read their counts of steps by themselves, and datasets their labels.
PHASES = ("transfer", "forward", "backward", "other")
# So many reads a step are a loop over values, and so little is computed there for each (seconds of operators): then
# the whole line is what reading one by one costs.
LOOP, LITTLE = 8, 2e-5
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
        yield _finding(profile, line, cost, min_share)


def _seconds(profile: Profile) -> float:
    """Return what the reads took on the host, its waiting for an accelerator included."""
    inner = READS[-1]
    found = profile.operators(READS, PHASES)
    return sum(each.total if each.name == inner else each.own for each in found)


def _cost(profile: Profile, line: LineCost, seconds: float) -> float:
    """Return what the reads of a line cost, of which each takes so long by itself."""
    loops = line.reads >= LOOP * profile.steps and line.operators <= LITTLE * line.reads
    return line.own if loops else min(seconds * line.reads, line.total)


def _is_the_users(line: LineCost) -> bool:
    return line.place.function not in LOADING_FUNCTIONS and ".step(" not in line.place.source


def _finding(profile: Profile, line: LineCost, cost: float, min_share: float) -> Finding:
    count = round(line.reads / profile.steps)
    often = f"{count:,} value{'' if count == 1 else 's'}{' a step' if profile.window.steps else ''}"
    return Finding(
        rule="host-reads",
        severity=Severity.INFO,
        confidence=0.9,
        title=f"reading {often} on the host takes {profile.told(cost)}",
        **line_of(shown(line.place)),
        evidence=profile.evidence(cost, min_share)
        | {"reads": line.reads, "seconds of the line": float(f"{line.total:.3g}")},
        why="Each read waits for its value, and what comes next has to wait with it.",
        fix="total += value.detach()  # and total.item() once, after the loop",
    )
