"""The cell stopped because tensors lie on different devices.

*Symptom*: "Expected all tensors to be on the same device", "Input type (torch.FloatTensor) and weight type
(torch.cuda.FloatTensor) should be the same".

*Why it happens*: the model was moved and the batch was not, or the other way round; a tensor is made inside ``forward``
without a device; a plain attribute is no buffer, so that ``model.to(device)`` leaves it behind.

*What to try*: move model and batches to one ``device``, make tensors with ``device=x.device``, and keep constants of a
module as buffers.

*Source*: PyTorch documentation, "CUDA semantics"; Humbatova et al., ICSE 2020 (GPU usage).
"""

from collections.abc import Iterator

from torchmagic.analyses.crash_types import device_words
from torchmagic.analyses.crash_words import evidence, site_of
from torchmagic.records.crash import CrashKind
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import ParameterRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run


@rule
def device_mismatch(run: Run) -> Iterator[Finding]:
    """Report the exception that ended the run, when it is about devices."""
    site = site_of(run, CrashKind.DEVICE)
    if site is None:
        return
    title, why, fix, parameter = device_words(site, {record.name: record.device for record in run.of(ParameterRecord)})
    yield Finding(
        rule="device-mismatch",
        severity=Severity.ERROR,
        confidence=0.97,
        title=title,
        module=site.module,
        parameter=parameter,
        **line_of(site.place),
        step=site.step,
        evidence=evidence(site),
        why=why,
        fix=fix,
    )
