"""This file writes the note under the user's own traceback: what it is about, the tensors on the line, what to try."""

import traceback
from collections.abc import Iterator
from textwrap import wrap

from torchmagic.analyses.crash_words import described, tensors_of
from torchmagic.probes.sites import Site, is_users, place_of
from torchmagic.records.crash import CrashKind, CrashSiteRecord
from torchmagic.records.finding import Finding
from torchmagic.records.note import CrashRecord
from torchmagic.rules.catalogue import RULES
from torchmagic.rules.judgement import judge
from torchmagic.session.run import Run

# Which rules explain which crash.
EXPLAINED_BY: dict[CrashKind, tuple[str, ...]] = {
    CrashKind.SHAPE: ("shape-mismatch",),
    CrashKind.DTYPE: ("dtype-mismatch",),
    CrashKind.DEVICE: ("device-mismatch",),
    CrashKind.INPLACE: ("inplace-autograd-error",),
    CrashKind.BACKWARD_TWICE: ("backward-twice",),
    CrashKind.NO_GRAD: ("no-grad-training", "api-misuse"),
    CrashKind.LABEL: ("label-out-of-range",),
    CrashKind.INDEX: ("index-out-of-range",),
    CrashKind.ASSERT: ("index-out-of-range",),
    CrashKind.SINGLE: ("batchnorm-batch-one",),
    CrashKind.MEMORY: ("out-of-memory",),
    CrashKind.NO_GRADIENTS: ("clip-ineffective",),
    CrashKind.MISUSE: ("api-misuse",),
}
HEAD = "torchmagic: "
WIDTH = 110
# Evidence that the note tells for an allocation that failed; elsewhere the tensors say it.
_MEMORY = ("asked for", "free", "resident", "kept by")


def crash(error: BaseException) -> CrashRecord:
    """Return an exception as a record: its class, what it says, and the user's innermost line."""
    lines = list(traceback.walk_tb(error.__traceback__))
    theirs = [Site(frame.f_code, line) for frame, line in lines if is_users(frame)]
    place = place_of(theirs[-1]) if theirs else None
    return CrashRecord(
        error=type(error).__name__,
        message=str(error),
        file=place.file if place else "",
        line=place.line if place else 0,
        source=place.source if place else "",
    )


def add_note(error: BaseException, run: Run) -> None:
    """Say under an exception's traceback what it means; nothing where no rule can tell, and once an exception."""
    site = next(iter(run.of(CrashSiteRecord)), None)
    if site is None or any(str(note).startswith(HEAD) for note in getattr(error, "__notes__", ())):
        return
    wanted = EXPLAINED_BY.get(site.problem, ())
    rules = tuple(rule for rule in RULES if rule.id in wanted)
    finding = next(iter(judge(run, lambda _rule, _failure: None, rules=rules)), None)
    if finding is not None:
        BaseException.add_note(error, note(finding, site))


def note(finding: Finding, site: CrashSiteRecord) -> str:
    """Return the note: title, line, tensors, why and fix."""
    lines = [HEAD + finding.title, *_place(finding, site), *_tensors(finding, site), *_wrapped(finding.why)]
    if finding.fix:
        lines += _wrapped(f"try: {finding.fix}")
    return "\n".join(lines)


def _place(finding: Finding, site: CrashSiteRecord) -> Iterator[str]:
    if finding.source and (site.place is None or finding.source != site.place.source):
        yield f"  {f'line {finding.line}' if finding.line else 'elsewhere'}: {finding.source}"
    if site.place is not None:
        function = "" if site.place.function == "<module>" else f" in {site.place.function}"
        yield f"  line {site.place.line}{function}: {site.expression or site.place.source}"


def _tensors(finding: Finding, site: CrashSiteRecord) -> Iterator[str]:
    if site.problem is CrashKind.MEMORY:
        rows = [
            (key, str(value))
            for key, value in finding.evidence.items()
            if key.startswith(_MEMORY) and "bytes" not in key
        ]
    elif site.problem in (CrashKind.INPLACE, CrashKind.BACKWARD_TWICE, CrashKind.NO_GRAD):
        rows = [(key, str(value)) for key, value in finding.evidence.items() if key != "torch says"]
    else:
        rows = [(fact.name, described(fact)) for fact in tensors_of(site)]
    width = max((len(name) for name, _ in rows), default=0)
    yield from (f"    {name:<{width}}  {text}" for name, text in rows)


def _wrapped(text: str) -> list[str]:
    return wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ")
