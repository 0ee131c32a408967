"""Large operators run on one core of many.

*Symptom*: training is slow, and the machine is mostly idle meanwhile.

*Why it happens*: ``OMP_NUM_THREADS=1`` in the environment, or ``torch.set_num_threads(1)``, holds torch to few threads.
Launchers and job systems set it without a word.

*What to try*: ``torch.set_num_threads(...)`` with the number of cores that you may use;
``torchmagic.find_num_threads`` measures which number is fastest.

*Source*: PyTorch documentation, "CPU threading and TorchScript inference".
"""

from collections.abc import Iterator

from torchmagic.analyses.operator_kinds import CONVOLUTIONS, MATRIX_PRODUCTS
from torchmagic.analyses.profile_costs import profile_of
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import rule
from torchmagic.session.run import Run

# Cores a thread. Two are usual: of two threads of one core, only one helps.
MIN_RATIO = 4
# Of the time, what operators take that gain by threads, and seconds of each of them.
MIN_SHARE, MIN_SECONDS = 0.4, 2e-4


@rule
def unused_cores(
    run: Run, *, min_ratio: float = MIN_RATIO, min_share: float = MIN_SHARE, min_seconds: float = MIN_SECONDS
) -> Iterator[Finding]:
    """Report few threads for many cores, where large products take most of the time."""
    profile = profile_of(run)
    if profile is None or profile.window.device != "cpu" or profile.window.cores < min_ratio * profile.window.threads:
        return
    found = profile.operators(MATRIX_PRODUCTS | CONVOLUTIONS)
    large = sum(each.own for each in found if each.own >= min_seconds * each.calls)
    if profile.share(large) < min_share:
        return
    threads, cores = profile.window.threads, profile.window.cores
    busy = sum(loader.workers for loader in profile.costs.loaders)
    if cores - busy <= threads:
        return
    yield Finding(
        rule="unused-cores",
        severity=Severity.INFO,
        confidence=0.6,
        title=f"large products take {profile.told(large)} on {threads} of {cores} cores",
        evidence=profile.evidence(large, min_share) | {"threads": threads, "cores": cores, "workers": busy},
        why="They can be divided among cores. How much that saves was not measured; torchmagic.find_num_threads does.",
        fix=f"torch.set_num_threads({max(threads + 1, (cores - busy) // 2)})  # before the loop",
    )
