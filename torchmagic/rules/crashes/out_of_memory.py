"""The cell stopped because there was no memory for what it asked for.

*Symptom*: "CUDA out of memory. Tried to allocate …", "DefaultCPUAllocator: can't allocate memory".

*Why it happens*: activations that wait for the backward grow with the batch; graphs or outputs are kept from step to
step; an optimizer such as Adam keeps two more copies of all weights; or one expression makes a tensor that is far
larger than was meant.

*What to try*: the cures below stand in the order of their cost. They begin with what is kept without need.

*Source*: PyTorch documentation, "Frequently asked questions: my model reports out of memory" and "Understanding CUDA
memory usage"; Gao et al., "Estimating GPU memory consumption of deep learning models", ESEC/FSE 2020.
"""

from collections.abc import Iterator

from torchmagic.analyses.crash_words import shape_of, site_of
from torchmagic.analyses.memory_cures import cures, sized
from torchmagic.records.crash import CrashKind, CrashSiteRecord, OutOfMemoryRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# A request above this share of all there is would fail on an idle device too.
HUGE_SHARE = 0.5
MOST_NAMED = 6


@rule
def out_of_memory(run: Run, *, huge_share: float = HUGE_SHARE) -> Iterator[Finding]:
    """Report the exception that ended the run, when an allocation failed."""
    site = site_of(run, CrashKind.MEMORY)
    record = next(iter(run.of(OutOfMemoryRecord)), None)
    if site is None or record is None:
        return
    huge = bool(record.requested and record.total and record.requested > huge_share * record.total)
    asked = f"{sized(record.requested)} more" if record.requested else "more"
    title = f"{record.device} is full: {_where(site)} asked for {asked}"
    if huge:
        title = (
            f"{_where(site)} asks for {asked.removesuffix(' more')} at once; {record.device} has {sized(record.total)}"
        )
    yield Finding(
        rule="out-of-memory",
        severity=Severity.ERROR,
        confidence=0.97,
        title=title,
        module=site.module,
        **line_of(site.place),
        step=site.step,
        evidence=_evidence(record, site, huge_share),
        why=_why(record, huge=huge),
        fix="; ".join(f"{number}. {cure}" for number, cure in enumerate(cures(record, site, huge=huge), 1)),
    )


def _where(site: CrashSiteRecord) -> str:
    return site.module or site.expression or "the failing line"


def _evidence(record: OutOfMemoryRecord, site: CrashSiteRecord, huge_share: float) -> dict[str, float | str]:
    found: dict[str, float | str] = {}
    if record.requested is not None:
        found["asked for (bytes)"] = record.requested
        found["asked for"] = sized(record.requested)
    found |= {
        key: sized(value) for key, value in (("free", record.free), ("there is", record.total)) if value is not None
    }
    found["threshold of a request that is too large by itself"] = f"{huge_share:.0%} of all there is"
    found |= {f"resident: {name}": sized(size) for name, size in record.categories.items() if size}
    found |= {
        f"kept by {each.name}": f"{sized(each.num_bytes)} ({each.what})" for each in record.residents[:MOST_NAMED]
    }
    return {**found, **{fact.name: f"{shape_of(fact)} {fact.dtype}" for fact in site.tensors}}


def _why(record: OutOfMemoryRecord, *, huge: bool) -> str:
    if huge:
        return "The request alone does not fit, whatever else is resident: a shape is larger than was meant."
    largest = max(record.categories, key=lambda name: record.categories[name], default="")
    if not largest or not record.categories[largest]:
        return "What is resident was not made by this run."
    return f"Most of what this run keeps is {largest}: {sized(record.categories[largest])}."
