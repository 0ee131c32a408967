"""A good part of each step goes into waiting for its batch.

*Symptom*: the profile shows much time under data, and a step takes as long with a smaller model.

*Why it happens*: without workers, samples are made one after the other by the process that trains, which does nothing
else meanwhile; or the workers make fewer batches than the training uses up.

*What to try*: ``num_workers`` of 2 or more, a cheaper line where the samples are made, or work that is done once before
the training and kept. Of small samples in one tensor, take a batch by its rows, ``x[rows]``, without a loader.

*Source*: PyTorch performance tuning guide, "Enable asynchronous data loading and augmentation".
"""

from collections.abc import Iterator

from torchmagic.analyses.loading_costs import slowest_loading_line
from torchmagic.analyses.profile_costs import Profile, duration, profile_of, shown
from torchmagic.records.costs import LoaderCost
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.place import Place
from torchmagic.records.speed import WorkerStartRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Of the time of the profile. All of it can be won where workers load while the model computes, and no more.
MIN_SHARE = 0.15
# Of waits shorter than this workers save little: handing a batch over takes them a millisecond or so (s).
SHORT, MIN_SHARE_OF_SHORT = 3e-3, 0.3
# A wait of so much of what starting the workers and their first batch take on the average was one for that.
START = 0.3
SLICES = "for rows in torch.randperm(len(x)).split(batch_size): batch = x[rows]  # where all fits into one tensor"


@rule
def slow_loading(
    run: Run, *, min_share: float = MIN_SHARE, min_share_of_short: float = MIN_SHARE_OF_SHORT
) -> Iterator[Finding]:
    """Report what waiting for batches costs, at the line that makes the samples slow."""
    profile = profile_of(run)
    if profile is None or not profile.trains:
        return
    loader = max(profile.costs.loaders, key=lambda each: each.total, default=None)
    waited = _waited(run, profile, loader)
    short = loader is not None and loader.total < SHORT * loader.batches
    if profile.share(waited) < (min_share_of_short if short else min_share):
        return
    slowest = slowest_loading_line(profile.costs) if loader is None or not loader.workers else None
    evidence = profile.evidence(waited, min_share)
    if slowest is not None:
        evidence["seconds of this line"] = float(f"{slowest.own:.3g}")
    yield Finding(
        rule="slow-loading",
        severity=Severity.INFO,
        confidence=0.9,
        title=f"waiting for {loader.loader if loader is not None else 'data'} takes {profile.told(waited)}",
        **line_of(shown(_place(loader, slowest.place if slowest is not None else None))),
        evidence=evidence | ({"workers": loader.workers} if loader is not None else {}),
        why=_why(profile, loader),
        fix=SLICES if short else _fix(profile, loader),
    )


def _waited(run: Run, profile: Profile, loader: LoaderCost | None) -> float:
    """Return the seconds of waiting, without those of starting workers anew, of which ``restarted-workers`` tells."""
    waited = profile.phases.get("data", 0.0)
    found = [each for each in run.of(WorkerStartRecord) if loader is not None and each.loader == loader.loader]
    if loader is None or not found or found[0].persistent or found[0].passes < 2:  # noqa: PLR2004 - the first is needed
        return waited
    start = (found[0].seconds - found[0].first) / (found[0].passes - 1)
    return min(waited, loader.total - sum(wait for wait in loader.waits if wait >= START * start))


def _place(loader: LoaderCost | None, slowest: Place | None) -> Place | None:
    return slowest or (loader.place if loader is not None else None)


def _why(profile: Profile, loader: LoaderCost | None) -> str:
    if loader is None or not loader.workers:
        return "The process that trains makes the samples itself, and computes nothing meanwhile."
    longest = max(loader.waits, default=0.0)
    slow = (
        f"Its {loader.workers} workers make fewer batches than are used up; the longest wait was {duration(longest)}."
    )
    full = loader.workers >= profile.window.cores
    return slow + (" There are no more cores for more of them." if full else "")


def _fix(profile: Profile, loader: LoaderCost | None) -> str:
    workers = loader.workers if loader is not None else 0
    if workers >= max(profile.window.cores, 2):
        return "cheaper samples: prepare them once before the training, and keep them in the dataset"
    number = min(max(2 * workers, 2), max(profile.window.cores, 2))
    return f"DataLoader(..., num_workers={number}, persistent_workers=True)"
