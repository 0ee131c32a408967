"""The cell stopped because tensors are not of the dtype that an operation needs.

*Symptom*: "mat1 and mat2 must have the same dtype", "expected scalar type Float but found Double", "expected target
dtype to be Long", "not implemented for 'Long'".

*Why it happens*: numpy makes float64 where torch's layers are float32; class labels were read as floats; whole
numbers went into a layer or a mean; only one of model and data was converted to half precision.

*What to try*: convert the data once, where it becomes a tensor: ``.float()`` for what goes into layers, ``.long()``
for class labels and indices.

*Source*: PyTorch documentation, "Tensor attributes: torch.dtype"; Humbatova et al., ICSE 2020 (wrong type of tensor).
"""

from collections.abc import Iterator

from torchmagic.analyses.crash_types import type_words
from torchmagic.analyses.crash_words import evidence, site_of
from torchmagic.analyses.loss_weights import line_making_weights
from torchmagic.analyses.texts import places_by
from torchmagic.records.crash import CrashKind, CrashSiteRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.place import Place
from torchmagic.rules.rule import only_line, rule
from torchmagic.session.run import Run


@rule
def dtype_mismatch(run: Run) -> Iterator[Finding]:
    """Report the exception that ended the run, when it is about dtypes."""
    site = site_of(run, CrashKind.DTYPE)
    if site is None:
        return
    title, why, fix = type_words(site)
    yield Finding(
        rule="dtype-mismatch",
        severity=Severity.ERROR,
        confidence=0.97,
        title=title,
        module=site.module,
        **only_line(_weighted(run, site), site.place),
        step=site.step,
        evidence=evidence(site),
        why=why,
        fix=fix,
    )


def _weighted(run: Run, site: CrashSiteRecord) -> list[Place]:
    """Return the lines that make the class weights of a loss, where these are of another dtype than its input."""
    dtypes = {each.dtype for each in site.given if each.dtype.startswith(("float", "bfloat"))}
    others = [each for each in site.weights if each.name in ("weight", "pos_weight") and each.dtype not in dtypes]
    if not site.class_name.endswith("Loss") or not dtypes or not others:
        return []
    return places_by(run, lambda text: line_making_weights(text, site.module or "", others[0].name))
