"""The thread that trains waits for a core, because more threads than cores want to compute.

*Symptom*: a step takes longer than its operators need, and more threads or workers made it slower.

*Why it happens*: torch divides each operator among ``torch.get_num_threads()`` threads, and each loader's worker is one
more. In a container or on a shared machine there may be fewer cores than torch believes. Those without one wait, and an
operator is done when its last thread is.

*What to try*: ``torch.set_num_threads(...)``, such that threads and workers together are no more than the cores.

*Source*: PyTorch documentation, "CPU threading and TorchScript inference", on tuning the number of threads.
"""

from collections.abc import Iterator

from torchmagic.analyses.counting import counted
from torchmagic.analyses.profile_costs import profile_of
from torchmagic.analyses.savings import saved, saves
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import rule
from torchmagic.session.run import Run

# Of the time, what the thread wanted to compute and had no core.
MIN_SHARE = 0.15


@rule
def thread_oversubscription(run: Run, *, min_share: float = MIN_SHARE) -> Iterator[Finding]:
    """Report threads beyond the cores, where the one that trains was kept from its core."""
    profile = profile_of(run)
    if profile is None or profile.window.device != "cpu" or not profile.phases:
        return
    window = profile.window
    workers = sum(loader.workers for loader in profile.costs.loaders)
    wanted = window.threads + workers
    waited = profile.phases["data"] + profile.phases["idle"]
    lost = window.seconds - window.processor - waited
    if wanted <= window.cores or window.threads < 2 or window.processor <= 0 or profile.share(lost) < min_share:  # noqa: PLR2004 - one thread is not too many
        return
    right = max(1, window.cores - workers)
    cores = counted(window.cores, "core")
    and_workers = f" and {counted(workers, 'worker')}" if workers else ""
    yield Finding(
        rule="thread-oversubscription",
        severity=Severity.INFO,
        confidence=0.8,
        title=f"{window.threads} threads{and_workers} share {cores}: waiting for one takes "
        f"{profile.told(lost)}{saved(profile, lost, cost=lost)}",
        evidence=profile.evidence(lost, min_share)
        | saves(profile, lost)
        | {"threads": window.threads, "workers": workers, "cores": window.cores},
        why="For so long the thread that trains was on no core, and waited for none of its data.",
        fix=f"torch.set_num_threads({right})  # before the loop",
    )
