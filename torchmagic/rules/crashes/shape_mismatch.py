"""The cell stopped because the shapes of tensors do not fit together.

*Symptom*: "mat1 and mat2 shapes cannot be multiplied", "expected input to have 3 channels", "the size of tensor a must
match the size of tensor b", "shape is invalid for input of size".

*Why it happens*: a layer was built for another number of features or channels than comes in, a tensor was not flattened
or lacks a dimension, or prediction and target are of different shape.

*What to try*: compare the shapes in the evidence from left to right: the first that is not what you meant is the one to
change. A layer's first number must be the size of what comes in.

*Source*: Humbatova et al., "Taxonomy of real faults in deep learning systems", ICSE 2020 (tensors and inputs); Islam et
al., "A comprehensive study on deep learning bug characteristics", ESEC/FSE 2019.
"""

from collections.abc import Iterator

from torchmagic.analyses.crash_sizes import misfit
from torchmagic.analyses.crash_words import evidence, site_of
from torchmagic.records.crash import CrashKind
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run


@rule
def shape_mismatch(run: Run) -> Iterator[Finding]:
    """Report the exception that ended the run, when it is about shapes."""
    site = site_of(run, CrashKind.SHAPE)
    if site is None:
        return
    words = misfit(site)
    yield Finding(
        rule="shape-mismatch",
        severity=Severity.ERROR,
        confidence=0.97,
        title=words.title,
        module=site.module,
        **line_of(site.place),
        step=site.step,
        evidence=evidence(site),
        why=words.why,
        fix=words.fix,
    )
