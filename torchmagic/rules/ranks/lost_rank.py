"""The process of a rank died without a word.

*Symptom*: other ranks end with "connection closed by peer" or a timeout, and nothing says what happened.

*Why it happens*: it was killed: by the system as memory ran out, by a scheduler, or by a person; or native code
crashed. Python was given no chance to tell.

*What to try*: look into the system's log (``dmesg`` names processes that were killed for memory), and at the memory of
that rank up to its end, which its run shows.

*Source*: PyTorch documentation, ``torchrun``, "Error propagation"; Linux ``signal(7)``.
"""

from collections.abc import Iterator

from torchmagic.analyses.ranks_ends import doing, echoes
from torchmagic.analyses.ranks_words import ranks_said
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.rank_beats import BeatRecord
from torchmagic.records.ranks import RankRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.ranked import Ranks
from torchmagic.session.run import Run


@rule
def lost_rank(run: Run) -> Iterator[Finding]:
    """Report the ranks whose process is gone although their run had not ended."""
    ranks = run.ranks
    if ranks is not None and ranks.lost:
        yield _finding(ranks)


def _finding(ranks: Ranks) -> Finding:
    lost, heard = ranks.lost, echoes(ranks)
    first = lost[0]
    steps = max(ranks.runs[rank].steps for rank in (first, *heard))  # what it did last it could not write any more
    beat = ranks.beats.get(first)
    is_fresh = beat is not None and beat.step + 1 >= steps  # it is written once a second
    who = next(iter(ranks.runs[first].of(RankRecord)), None)
    return Finding(
        rule="lost-rank",
        severity=Severity.ERROR,
        confidence=0.95,
        title=f"{ranks_said(lost)} died at about step {steps:,}"
        + (f", and {ranks_said(heard)} failed for it" if heard else ""),
        **line_of(beat.place if beat is not None and is_fresh else None),
        step=steps,
        evidence=_evidence(beat if is_fresh else None, who) | {"lost": len(lost), "ranks": ranks.world_size},
        why="Its run was never closed: the process was killed (SIGKILL, memory), or native code crashed.",
        fix="look for its end in the system's log: dmesg | grep -i 'killed process'",
    )


def _evidence(beat: BeatRecord | None, who: RankRecord | None) -> dict[str, float | str]:
    told: dict[str, float | str] = {}
    if who is not None:
        told |= {"host": who.host, "process": str(who.pid)}
    if beat is not None:
        told["last heard of"] = doing(beat)
    return told
