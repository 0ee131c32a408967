"""An index points outside of the table that it is looked up in.

*Symptom*: "index out of range in self", "index 10 is out of bounds for dimension 0 with size 10", on a GPU
"device-side assert triggered".

*Why it happens*: the vocabulary has more words than the embedding has rows, padding or unknown words are marked by
-1, or positions run longer than their table.

*What to try*: build the table from the vocabulary, ``nn.Embedding(len(vocab), …)``, with rows for padding and unknown
words; or cut the indices with ``clamp``.

*Source*: PyTorch documentation, "Embedding"; Stack Overflow question 62081155.
"""

from collections.abc import Iterator

from torchmagic.analyses.crash_words import attribute, evidence, site_of, subject
from torchmagic.records.crash import CrashKind, CrashSiteRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run


@rule
def index_out_of_range(run: Run) -> Iterator[Finding]:
    """Report the exception that ended the run, when an index was out of range."""
    site = site_of(run, CrashKind.INDEX)
    if site is None:
        yield from map(_stopped, filter(None, [site_of(run, CrashKind.ASSERT)]))
        return
    found: dict[str, float | str] = {}
    if site.value is not None:
        found["index"] = site.value
    if site.limit is not None:
        found["rows"] = site.limit
    if site.num_values:
        found["indices out of range"] = f"{site.num_bad} of {site.num_values}"
    yield Finding(
        rule="index-out-of-range",
        severity=Severity.ERROR,
        confidence=0.97 if site.noticed is None or site.value is not None else 0.85,
        title=_title(site),
        module=site.module,
        **line_of(site.place),
        step=site.step,
        evidence={**found, **evidence(site)},
        why=_why(site),
        fix=_fix(site),
    )


def _stopped(site: CrashSiteRecord) -> Finding:
    """Return what is known where a device stopped at an assertion, and nothing says at which."""
    return Finding(
        rule="index-out-of-range",
        severity=Severity.ERROR,
        confidence=0.8,
        title="An index, or a label, is out of range on the device",
        **line_of(site.place),
        step=site.step,
        evidence=evidence(site),
        why="An assertion in one of its kernels stopped the device; the line that raises is the one that waited.",
        fix="run the cell once on the CPU, or with CUDA_LAUNCH_BLOCKING=1 set before torch is loaded, to see the line",
    )


def _title(site: CrashSiteRecord) -> str:
    value = "an index" if site.value is None else f"index {site.value}"
    if site.limit is None:
        return f"{subject(site)} got {value} that is out of range"
    if site.value is None:
        value += " that is out of range,"
    return f"{subject(site)} got {value} and has {site.limit} rows: 0 to {site.limit - 1}"


def _why(site: CrashSiteRecord) -> str:
    if site.value is not None and site.value < 0:
        return "A table has no row before its first; -1 is no padding unless a row stands for it."
    if site.value is not None and site.value == site.limit:
        return "Rows are numbered from 0: the table is one row too short, or the numbers begin at 1."
    return "The table is too short for what is looked up in it."


def _fix(site: CrashSiteRecord) -> str:
    if site.value is not None and site.value < 0:
        return "use a row of its own for padding: indices + 1, and padding_idx=0"
    if site.class_name.startswith("Embedding") and site.value is not None and site.module is not None:
        width = site.settings.get("embedding_dim", "…")
        return f"{attribute(site.module)} = nn.{site.class_name}({site.value + 1}, {width})  # or more rows"
    return (
        f"make the table at least {site.value + 1} rows long" if site.value is not None else "print the largest index"
    )
