"""The same values are copied between host and device again and again.

*Symptom*: a line with ``.to(device)``, ``.cpu()`` or ``.item()`` is among the dearest, although what it copies never
changes.

*Why it happens*: a mask, a table of weights or the only batch lies on the host, and each step takes it along anew; or
several lines fetch one result, each for itself. Each copy passes through the bus, and most of them make the host wait.

*What to try*: copy once, before the loop, and keep the copy, as far as the device has room; in a module,
``self.register_buffer("mask", mask)``, which moves with it. Fetch a result once, and use the number.

*Source*: PyTorch performance tuning guide, "Avoid unnecessary CPU-GPU synchronization" and "Create tensors directly on
the target device".
"""

from collections.abc import Iterator

from torchmagic.analyses.profile_costs import LEAST_GAIN, Profile, profile_of, shown
from torchmagic.analyses.savings import saved, saves
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.speed import RepeatedCopyRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Fewer may be chance, as of a batch that comes twice.
MIN_REPEATS = 3
# Lines told, the dearest first.
MOST_LINES = 3


@rule
def repeated_host_device_copies(
    run: Run, *, min_share: float = LEAST_GAIN, min_repeats: int = MIN_REPEATS
) -> Iterator[Finding]:
    """Report each line whose copies of what had not changed take long enough."""
    profile = profile_of(run)
    if profile is None:
        return
    costs = [(_cost(profile, each), each) for each in run.of(RepeatedCopyRecord) if each.repeats >= min_repeats]
    worth = [each for each in costs if profile.share(each[0]) >= min_share]
    for cost, record in sorted(worth, key=lambda each: -each[0])[:MOST_LINES]:
        yield _finding(profile, record, cost, min_share)


def _cost(profile: Profile, record: RepeatedCopyRecord) -> float:
    """Return the seconds of the profile's steps, of which others may have been looked at."""
    return record.seconds / max(record.steps, 1) * profile.steps


def _finding(profile: Profile, record: RepeatedCopyRecord, cost: float, min_share: float) -> Finding:
    done = f"fetched from {record.device}" if record.back else f"copied to {record.device}"
    once = (
        "value = result.item()  # once, and the number from then on" if record.back else f'x = x.to("{record.device}")'
    )
    return Finding(
        rule="repeated-host-device-copies",
        severity=Severity.INFO,
        confidence=0.85,
        title=f"what was {done} before, and has not changed, is {done.partition(' ')[0]} again: it takes "
        f"{profile.told(cost)}{saved(profile, cost, cost=cost)}",
        **line_of(shown(record.place)),
        evidence=profile.evidence(cost, min_share)
        | saves(profile, cost)
        | {
            "copies seen": record.copies,
            "of these, again": record.repeats,
            "bytes of the latter": record.num_bytes,
            "shape of the last": "x".join(map(str, record.shape)) or "single value",
            "steps looked at": record.steps,
        },
        why="Neither torch's count of changes nor the values had changed since the copy before.",
        fix=once if record.back else f"{once}  # once, before the loop",
    )
