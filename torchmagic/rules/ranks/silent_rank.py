"""A rank does nothing any more, and the others wait for it.

*Symptom*: the training stands still without an error; minutes later a timeout ends the ranks that waited.

*Why it happens*: ranks call different collectives, or some of them fewer: a branch that only rank 0 takes, a loader
that ended earlier, a barrier that not all reach; or one rank waits for a disk, a lock or a person.

*What to try*: let every rank make the same calls in the same order. The last thing that each rank did is told below;
``TORCH_DISTRIBUTED_DEBUG=DETAIL`` has torch compare the calls.

*Source*: PyTorch documentation, ``torch.distributed``, "Debugging torch.distributed applications".
"""

from collections import Counter
from collections.abc import Iterator

from torchmagic.analyses.ranks_ends import Silence, doing, silence
from torchmagic.analyses.ranks_words import ranks_said
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.rank_beats import BeatRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run
from torchmagic.session.status import Status

# Seconds in which no rank told anything new. A rank that is silent for ``hang_after`` tells so by itself before that.
MIN_SECONDS = 20.0
# Ranks whose last deed is told one by one; of more, each deed once.
MOST_TOLD = 8


@rule
def silent_rank(run: Run, *, min_seconds: float = MIN_SECONDS) -> Iterator[Finding]:
    """Report a silence, and the ranks that the others wait in."""
    ranks = run.ranks
    if ranks is None:
        return
    found = silence(ranks, min_seconds=min_seconds)
    if found is not None:
        yield _finding(found, ended=Status.RUNNING not in ranks.statuses.values())


def _finding(found: Silence, *, ended: bool) -> Finding:
    first = found.beats.get(found.silent[0]) if found.silent else _alone(found)
    who = ranks_said(found.silent) if found.silent else "all ranks"
    stood = "stood still" if found.over or ended else "stands still" if len(found.silent) == 1 else "stand still"
    last = ""
    if first is not None:
        last = (
            f": {'it' if len(found.silent) == 1 else 'they'} {doing(first)}" if found.silent else f": {_apart(found)}"
        )
    return Finding(
        rule="silent-rank",
        severity=Severity.INFO if found.over else Severity.ERROR,
        confidence=0.9 if found.silent else 0.7,
        title=f"{who} {stood} for {found.seconds:.0f} s{last.partition(', line ')[0]}",
        **line_of(first.place if first is not None else None),
        step=first.step if first is not None else found.step,
        evidence={"silent for, s": round(found.seconds, 1)} | _deeds(found),
        why=_why(found),
        fix="let every rank call the same collectives in the same order; a call that only some ranks make, as below "
        "`if rank == 0:`, must not be one of them",
    )


def _why(found: Silence) -> str:
    if found.over:
        return "It went on afterwards: a checkpoint, an evaluation on one rank, or a slow disk does that."
    if not found.silent:
        return "They wait for each other: a collective ends only where all ranks have called the same one."
    waiting = [rank for rank, beat in found.beats.items() if beat.inside and rank not in found.silent]
    return f"{ranks_said(waiting).capitalize()} wait{'s' if len(waiting) == 1 else ''} for it in an exchange."


def _alone(found: Silence) -> BeatRecord | None:
    """Return what the fewest ranks wait in, of equally many what is a call of the user's and no backward."""
    inside = [beat for beat in found.beats.values() if beat.inside]
    count = Counter(beat.event for beat in inside)
    return min(inside, key=lambda beat: (count[beat.event], beat.event == "backward"), default=None)


def _apart(found: Silence) -> str:
    said: dict[str, list[int]] = {}
    for rank, beat in sorted(found.beats.items()):
        if beat.inside:
            said.setdefault(beat.event, []).append(rank)
    return ", ".join(f"{ranks_said(ranks)} in {event}" for event, ranks in said.items())


def _deeds(found: Silence) -> dict[str, float | str]:
    """Return what each rank did last; of many ranks, those that did the same together."""
    said: dict[str, list[int]] = {}
    for rank, beat in sorted(found.beats.items()):
        said.setdefault(doing(beat), []).append(rank)
    alone = len(found.beats) <= MOST_TOLD
    pairs = [(f"rank {rank}", deed) for deed, ranks in said.items() for rank in ranks] if alone else []
    return dict(sorted(pairs)) if alone else {ranks_said(ranks): deed for deed, ranks in list(said.items())[:MOST_TOLD]}
