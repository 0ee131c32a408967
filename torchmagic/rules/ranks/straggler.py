"""One rank is slower than the others, which wait for it at every step.

*Symptom*: adding ranks makes steps no faster; devices are idle for a part of each step, on all ranks but one.

*Why it happens*: gradients are exchanged when the last rank has them. One that loads more slowly, has more to compute,
logs, or runs on a slower device sets the pace of all.

*What to try*: make alike what differs: the phase that takes longer there is named. Spread long samples evenly, load
with workers, and log after the step on a rank that has the time.

*Source*: Li et al., "PyTorch distributed", VLDB 2020, section 4; Holistic Trace Analysis, "potential stragglers".
"""

from collections.abc import Iterator

from torchmagic.analyses.loader_lines import line_of_loader
from torchmagic.analyses.ranks_holding import Holder, holder
from torchmagic.analyses.ranks_waits import Straggler, Waits, slowest, waits, waits_of_each_step
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import LoaderRecord
from torchmagic.records.place import Place
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.ranked import Ranks
from torchmagic.session.run import Run

# Share of a step that the others wait for it: noise of a busy machine stays below; a quarter is worth a warning.
MIN_SHARE, LOUD_SHARE = 0.1, 0.25
# Seconds a step: what is less nobody would look for.
MIN_SECONDS = 0.002
# Share of the steps in which it is the last, and steps measured; and how likely chance alone may be to do as much.
MIN_LED, MIN_STEPS, MAX_CHANCE = 0.7, 5, 0.01
# Of a rank that is late now and then: of how many steps at least, what the next one may hold up beside it, by how many
# standard errors it has to be ahead of that, and how many times as many steps that takes.
MIN_OFTEN, MAX_NEXT, MIN_CERTAINTY, LONGER = 0.15, 0.4, 4.0, 8
# Share of the time that all steps may show as waiting before they have to name the rank that some of them name.
MAX_UNTOLD = 0.05
NAMES = {"data": "data loading", "other": "other code", "optimizer": "optimizer step"}
CURES = {
    "data": "its data: the same storage, as many workers and as long samples as on the other ranks",
    "forward": "what its forward computes: samples as long as the others', an equal device, no other load on it",
    "backward": "what its backward computes: samples as long as the others', an equal device, no other load on it",
    "optimizer": "what it does around optimizer.step()",
    "other": "what it does between the steps: logging, evaluation, checkpoints",
}


@rule
def straggler(
    run: Run,
    *,
    min_share: float = MIN_SHARE,
    min_seconds: float = MIN_SECONDS,
    min_led: float = MIN_LED,
    min_steps: int = MIN_STEPS,
) -> Iterator[Finding]:
    """Report the rank that comes last in nearly every step, or again and again, where the others wait long for it."""
    ranks = run.ranks
    if ranks is None or ranks.num_read < len((0, 1)):
        return
    found = waits(ranks)
    if found is None or len(found.waited) < min_steps:
        return
    late, each = slowest(found), waits_of_each_step(ranks)
    leads = late.share >= min_share and late.seconds >= min_seconds and late.led >= min_led
    if leads and late.chance <= MAX_CHANCE and _goes_on(found, late.rank) and _is_confirmed(each, late.rank):
        yield _finding(ranks, late, min_share)
    elif each is not None and len(each.waited) >= min_steps * LONGER:
        held = holder(each)
        if held.share >= min_share and held.seconds >= min_seconds and _stands_out(held):
            yield _now_and_then(ranks, held, min_share)


def _goes_on(found: Waits, rank: int) -> bool:
    """Whether a rank is behind in all parts of the run: a few slow steps in a row do not make a straggler."""
    held = holder(found)
    return held.rank == rank and held.is_steady


def _is_confirmed(each: Waits | None, rank: int) -> bool:
    """Whether all steps say what the measured ones do: these come at even distances, as turns may."""
    return each is None or each.share < MAX_UNTOLD or _goes_on(each, rank)


def _stands_out(held: Holder) -> bool:
    """Whether it is this rank and no other: ranks that take turns, and a machine that stutters, slow all alike."""
    often, alone = held.often >= MIN_OFTEN, held.next <= MAX_NEXT
    return often and alone and held.is_steady and held.certainty >= MIN_CERTAINTY


def _finding(ranks: Ranks, late: Straggler, min_share: float) -> Finding:
    run = ranks.runs[late.rank]
    name = NAMES.get(late.phase, late.phase)
    phase = f"its {name} takes {1e3 * late.own:.3g} ms a step, the others' {1e3 * late.usual:.3g} ms"
    told = late.phase and late.own - late.usual > late.seconds / 4
    return Finding(
        rule="straggler",
        severity=Severity.WARNING if late.share >= LOUD_SHARE else Severity.INFO,
        confidence=0.85,
        title=f"the other ranks wait for rank {late.rank} {late.share:.0%} of each step"
        + (f": {phase}" if told else ""),
        **line_of(_loader_line(run) if told and late.phase == "data" else None),
        evidence={
            "waited for it, ms a step": round(1e3 * late.seconds, 3),
            "last of all": f"in {late.led:.0%} of {late.num_steps:,} steps",
            "threshold": f"{min_share:.0%}",
        },
        why="An exchange of gradients ends when the last rank has come to it."
        + (f" {phase[0].upper()}{phase[1:]}." if told else ""),
        fix=f"look at {CURES[late.phase] if told else 'what that rank does more than others'}"
        + (f"; it ran {run.steps:,} steps as the others did" if not told else ""),
    )


def _now_and_then(ranks: Ranks, held: Holder, min_share: float) -> Finding:
    run = ranks.runs[held.rank]
    name = NAMES.get(held.phase, held.phase)
    longer = f", when its {name} takes longer" if held.phase else ""
    return Finding(
        rule="straggler",
        severity=Severity.WARNING if held.share >= LOUD_SHARE else Severity.INFO,
        confidence=0.75,
        title=f"the other ranks wait for rank {held.rank} {held.share:.0%} of the time: it is late in {held.often:.0%} "
        f"of the steps, by {1e3 * held.each:.3g} ms",
        **line_of(_loader_line(run) if held.phase == "data" else None),
        evidence={
            "waited for it, ms a step": round(1e3 * held.seconds, 3),
            "for the next one": f"{held.next:.0%} of that",
            "late": f"in {held.often:.0%} of {held.num_steps:,} steps",
            "threshold": f"{min_share:.0%}",
        },
        why=f"An exchange of gradients ends when the last rank has come to it; that is rank {held.rank} again and again"
        f"{longer}.",
        fix=f"look at {CURES[held.phase] if held.phase else 'what that rank does more than others in some steps'}",
    )


def _loader_line(run: Run) -> Place | None:
    """Return the line that made the loader of a rank; None where there are several, as any of them may be slow."""
    loaders = run.of(LoaderRecord)
    return line_of_loader(loaders[0]) if len(loaders) == 1 else None
