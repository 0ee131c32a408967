"""A good part of each step goes into copying its batch to the accelerator.

*Symptom*: the profile shows much time under transfer.

*Why it happens*: from ordinary memory a copy goes through a page-locked buffer first, and the program waits for it. The
same data may also be copied again in every epoch, although the accelerator has room for all of it.

*What to try*: ``DataLoader(..., pin_memory=True)`` and ``x.to(device, non_blocking=True)``; smaller types, such as
``uint8`` images that are made floats on the accelerator; a small dataset moved there once, before the loop.

*Source*: PyTorch tutorial, "A guide on good usage of non_blocking and pin_memory() in PyTorch".
"""

from collections.abc import Iterator

from torchmagic.analyses.profile_costs import profile_of, shown
from torchmagic.analyses.savings import saved, saves
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import LoaderRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

MIN_SHARE = 0.08


@rule
def slow_transfer(run: Run, *, min_share: float = MIN_SHARE) -> Iterator[Finding]:
    """Report what bringing batches to an accelerator costs."""
    profile = profile_of(run)
    if profile is None or profile.window.device == "cpu":
        return
    seconds = profile.phases.get("transfer", 0.0)
    if profile.share(seconds) < min_share:
        return
    copies = [each for each in profile.costs.operators if each.phase == "transfer" and each.place is not None]
    dearest = max(copies, key=lambda each: each.total, default=None)
    loaders = run.of(LoaderRecord)
    saving = min(seconds, profile.window.seconds - seconds)  # what else is done meanwhile has to last as long
    pinned = bool(loaders) and all(record.pin_memory for record in loaders)
    yield Finding(
        rule="slow-transfer",
        severity=Severity.INFO,
        confidence=0.8,
        title=f"copying to {profile.window.device} takes {profile.told(seconds)}"
        + saved(profile, saving, cost=seconds),
        **line_of(shown(dearest.place) if dearest is not None else None),
        evidence=profile.evidence(seconds, min_share)
        | saves(profile, saving)
        | ({"pin_memory": str(pinned)} if loaders else {}),
        why="The accelerator waits for what the model is to work on.",
        fix='x.to("cuda", non_blocking=True)' + ("" if pinned else "  # and DataLoader(..., pin_memory=True)"),
    )
