"""One rank ended with an exception of its own, and the others with what they heard of it.

*Symptom*: rank 0 shows "connection closed by peer" or a timeout, which says nothing of the cause.

*Why it happens*: a rank that raises leaves the exchange; the ranks that wait in it fail in turn, often later and with
longer tracebacks.

*What to try*: mend the exception of the rank that is named; those of the others follow from it.

*Source*: PyTorch documentation, ``torchrun``, "Error propagation".
"""

from collections.abc import Iterator

from torchmagic.analyses.ranks_ends import echoes, failures
from torchmagic.analyses.ranks_words import ranks_said
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.note import CrashRecord
from torchmagic.rules.rule import line_of_crash, rule
from torchmagic.session.ranked import Ranks
from torchmagic.session.run import Run

LONGEST = 100


@rule
def failed_rank(run: Run) -> Iterator[Finding]:
    """Report the exception of ranks that failed first, where the others did not fail by themselves."""
    ranks = run.ranks
    if ranks is None or ranks.num_read < len((0, 1)):
        return
    own = failures(ranks)
    if own and len(own) < ranks.num_read:
        yield _finding(ranks, own)


def _finding(ranks: Ranks, own: dict[int, CrashRecord]) -> Finding:
    rank = min(own, key=lambda each: (ranks.runs[each].steps, each))
    crash, heard = own[rank], echoes(ranks)
    said = " ".join(crash.message.split())
    short = said if len(said) <= LONGEST else f"{said[: LONGEST - 1]}…"
    return Finding(
        rule="failed-rank",
        severity=Severity.ERROR,
        confidence=0.95,
        title=f"{ranks_said(own)} failed with {crash.error}: {short}",
        **line_of_crash(crash),
        step=ranks.runs[rank].steps,
        evidence={
            "failed by itself": ranks_said(own),
            "failed for it": ranks_said(heard) if heard else "no rank",
            "file": crash.file,
        },
        why=_why(ranks, heard),
        fix=f"mend what rank {rank} raised" + (f" in line {crash.line}: {crash.source}" if crash.line else ""),
    )


def _why(ranks: Ranks, heard: tuple[int, ...]) -> str:
    if heard:
        return f"{ranks_said(heard).capitalize()} only lost the connection."
    if ranks.lost:
        return f"What launched the ranks then ended {ranks_said(ranks.lost)}."
    return "The other ranks did not fail."
