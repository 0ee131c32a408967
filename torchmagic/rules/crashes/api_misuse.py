"""The cell stopped because something of torch's was not used in the way that it can be.

*Symptom*: "Boolean value of Tensor with more than one value is ambiguous", "Can't call numpy() on Tensor that requires
grad", "cannot assign module before Module.__init__() call", "Attempting to unscale FP16 gradients".

*Why it happens*: each message says what torch could not do, seldom what was meant: a loss that is built with the
tensors that it should be called with, a layer that gives a tuple, a method without its parentheses, a state that was
saved inside a wrapper.

*What to try*: what the finding says; it names your own line and what to write there.

*Source*: Humbatova et al., "Taxonomy of real faults in deep learning systems", ICSE 2020 (API misuse); PyTorch
documentation, "Frequently asked questions".
"""

from collections.abc import Iterator

from torchmagic.analyses.crash_words import evidence, site_of
from torchmagic.analyses.misuses import misuse_words, raised_at
from torchmagic.records.crash import CrashKind, GradlessForwardRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run


@rule
def api_misuse(run: Run) -> Iterator[Finding]:
    """Report the exception that ended the run, when torch was used in a way that it cannot be."""
    site = site_of(run, CrashKind.MISUSE)
    if site is None and not run.of(GradlessForwardRecord):
        site = site_of(run, CrashKind.NO_GRAD)  # what was made without gradients, and by no model
    words = misuse_words(site) if site is not None else None
    if site is None or words is None:
        return
    yield Finding(
        rule="api-misuse",
        severity=Severity.ERROR,
        confidence=0.93,
        title=words.title,
        module=site.module,
        **line_of(raised_at(site.message) or site.place),
        step=site.step,
        evidence=evidence(site),
        why=words.why,
        fix=words.fix,
    )
