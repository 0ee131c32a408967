"""Nearly every step is clipped, by a large factor.

*Symptom*: training is slow; the loss hardly depends on the learning rate's schedule, and norms before clipping stay far
above the bound.

*Why it happens*: the bound is far below the usual norm of the gradients, so that clipping is no guard against rare
spikes but fixes the length of every step. With Adam, which divides by the size of gradients, it may be meant.

*What to try*: look at the norms before clipping and set the bound near their upper quantiles; or look for what makes
gradients large.

*Source*: Pascanu et al., ICML 2013; the ledger of clipping in common training tools.
"""

from collections.abc import Iterator
from statistics import median

from torchmagic.analyses.clipped_norms import clipped_norms
from torchmagic.analyses.model_names import parameters_in
from torchmagic.records.clipping import ClippingLineRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import only_line, rule
from torchmagic.session.run import Run

# Share of the steps that are clipped, and by how much in the median.
MIN_SHARE = 0.9
MIN_TIMES = 5.0
MIN_STEPS = 20
# A norm within this factor of the one before was not clipped.
CLIPPED = 1.01


@rule
def clip_saturation(run: Run, *, min_share: float = MIN_SHARE, min_times: float = MIN_TIMES) -> Iterator[Finding]:
    """Report a run whose gradients are clipped, by a lot, in nearly every step."""
    norms = clipped_norms(run)
    if norms is None or len(norms.times) < MIN_STEPS:
        return
    times = norms.times
    share = sum(each > CLIPPED for each in times) / len(times)
    if share < min_share or median(times) < min_times:
        return
    yield Finding(
        rule="clip-saturation",
        severity=Severity.INFO,
        confidence=0.8,
        title=f"{share:.0%} of the steps are clipped, usually by a factor of {median(times):.3g}",
        **only_line([record.place for record in run.of(ClippingLineRecord) if record.place is not None], None),
        step=run.series("grad_norm_before_clip")[0][0],
        evidence={
            "share of steps clipped": share,
            "threshold": min_share,
            "norm before over after (median)": median(times),
            "norm before clipping (median)": median(norms.before),
            "norm after clipping (median)": median(norms.after),
        },
        why="The bound decides the length of every step, whatever the gradients say.",
        fix=f"torch.nn.utils.clip_grad_norm_({parameters_in(run)}, {_rounded(sorted(norms.before)):g})",
    )


def _rounded(norms: list[float]) -> float:
    """Return a bound that lets nine of ten steps through."""
    return float(f"{norms[int(0.9 * (len(norms) - 1))]:.1g}")
