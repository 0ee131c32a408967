"""A good part of each step goes into waiting for its batch.

*Symptom*: the profile shows much time under data, and a step takes as long with a smaller model.

*Why it happens*: without workers, samples are made one after the other by the process that trains, which does nothing
else meanwhile; or the workers make fewer batches than the training uses up.

*What to try*: ``num_workers`` of 2 or more, a cheaper line where the samples are made, or work that is done once before
the training and kept; ``torchmagic.find_loader_settings`` measures how many workers help. Of small
samples in one tensor, take a batch by its rows, ``x[rows]``, without a loader.

*Source*: PyTorch performance tuning guide, "Enable asynchronous data loading and augmentation".
"""

from collections.abc import Iterator

from torchmagic.analyses.loading_costs import slowest_loading_line
from torchmagic.analyses.profile_costs import LEAST_GAIN, Profile, duration, profile_of, shown
from torchmagic.analyses.savings import saved, saves
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
    least = min_share_of_short if short else min_share
    if profile.share(waited) < least:
        return
    slowest = slowest_loading_line(profile.costs) if loader is None or not loader.workers else None
    number = _workers(profile, loader, waited)
    saving = waited if short or not number else _hidden(profile, loader, waited, number)
    evidence = profile.evidence(waited, least) | saves(profile, saving)
    if slowest is not None:
        evidence["seconds of this line"] = float(f"{slowest.own:.3g}")
    yield Finding(
        rule="slow-loading",
        severity=Severity.INFO,
        confidence=0.9,
        title=f"waiting for {loader.loader if loader is not None else 'data'} takes {profile.told(waited)}"
        + saved(profile, saving, cost=waited),
        **line_of(shown(_place(loader, slowest.place if slowest is not None else None))),
        evidence=evidence | ({"workers": loader.workers} if loader is not None else {}),
        why=_why(profile, loader),
        fix=SLICES if short else _fix(number),
    )


def _waited(run: Run, profile: Profile, loader: LoaderCost | None) -> float:
    """Return the seconds of waiting, without those of starting workers anew, of which ``restarted-workers`` tells."""
    waited = profile.phases["data"]
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
    them = f"{loader.workers} workers make" if loader.workers > 1 else "worker makes"
    slow = f"Its {them} fewer batches than are used up; the longest wait was {duration(longest)}."
    full = loader.workers >= profile.window.cores
    return slow + (" There are no more cores for more workers." if full else "")


def _workers(profile: Profile, loader: LoaderCost | None, waited: float) -> int:
    """Return how many workers are worth a try: twice as many as cores allow for; 0 where more of them save nothing."""
    present, most = loader.workers if loader is not None else 0, max(profile.window.cores, 2)
    number = min(max(2 * present, 2), most)
    pays = present < most and profile.share(_hidden(profile, loader, waited, number)) >= LEAST_GAIN
    return number if pays else 0


def _hidden(profile: Profile, loader: LoaderCost | None, waited: float, number: int) -> float:
    """Return the seconds of waiting that so many workers could hide behind the rest of the steps, and the cores bear.

    Workers that are waited for are all at work all the time, as is a loop that makes its samples itself while it waits.
    """
    window, workers = profile.window, loader.workers if loader is not None else 0
    making = window.seconds * workers if workers else waited
    bounds = (window.seconds - waited, making / number, 0.0 if workers else window.processor / max(window.cores, 1))
    return max(0.0, min(waited, window.seconds - max(bounds)))


def _fix(number: int) -> str:
    if not number:
        return "cheaper samples: prepare them once before the training, and keep them in the dataset"
    return f"DataLoader(..., num_workers={number}, persistent_workers=True)"
