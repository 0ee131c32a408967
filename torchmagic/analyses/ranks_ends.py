"""This file is how ranks ended, or where they stand still: the one that failed first, and the one that is silent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torchmagic.records.note import CrashRecord
from torchmagic.records.rank_beats import BeatRecord, HangRecord
from torchmagic.session.ranked import Ranks
from torchmagic.session.status import Status

# What torch says on a rank whose partner is gone, or did not come: that is how a failure elsewhere is heard of.
ECHOES = (
    "connection closed by peer", "connection reset by peer", "connection refused", "broken pipe", "socket timeout",
    "timed out waiting", "timed out after", "connection was likely closed", "application timeout", "read error",
    "nccl error", "remote process exited", "failed to connect", "collective operation timeout",
)  # fmt: skip
# Exceptions by which a person, or what launched the ranks, ends them.
WISHES = frozenset({"KeyboardInterrupt", "SystemExit", "SignalException"})
_RUNNING = "running"
# Events that are moments, in words that fit before the number of steps made.
_MOMENTS = {"step done": "had just made", "start": "had only begun, with"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """Ranks on which nothing goes on.

    Args:
        step: Optimizer steps that the ranks which wait had made.
        seconds: How long nothing had happened.
        over: Whether it went on afterwards.
        beats: What every rank told last, by rank.
        silent: The ranks that the others wait for; empty where that cannot be told.
    """

    step: int
    seconds: float
    over: bool
    beats: Mapping[int, BeatRecord]
    silent: tuple[int, ...]


def silence(ranks: Ranks, *, min_seconds: float) -> Silence | None:
    """Return the silence that lasts, else the longest that passed, else None.

    Args:
        ranks: The ranks.
        min_seconds: For how long ranks that tell of none themselves, as their processes are stopped, have to be quiet.
    """
    records = [record for found in ranks.of(HangRecord).values() for record in _last_words(found)]
    if records:
        worst = max(records, key=lambda record: (not record.over, record.seconds))
        beats = {beat.rank: beat for beat in worst.beats}
        return Silence(
            step=worst.step, seconds=worst.seconds, over=worst.over, beats=beats, silent=_waited_for(beats, ranks)
        )
    return _still(ranks, min_seconds)


def failures(ranks: Ranks) -> dict[int, CrashRecord]:
    """Return the exceptions that ended ranks, without those of somebody's wish or of another rank's end."""
    crashes = {rank: found[-1] for rank, found in ranks.of(CrashRecord).items() if found}
    return {rank: crash for rank, crash in crashes.items() if crash.error not in WISHES and not _is_echo(crash)}


def echoes(ranks: Ranks) -> tuple[int, ...]:
    """Return the ranks that ended as another rank was gone."""
    return tuple(rank for rank, found in ranks.of(CrashRecord).items() if found and _is_echo(found[-1]))


def doing(beat: BeatRecord) -> str:
    """Return in words what a rank did last.

    Examples:
        >>> doing(BeatRecord(rank=0, host="a", pid=1, status="running", step=7, event="all_reduce", inside=True,
        ...                  seconds=1.0, place=None, wall=0.0))
        'waits in all_reduce at step 7'
    """
    where = f", line {beat.place.line}: {beat.place.source}" if beat.place is not None and beat.place.line else ""
    if beat.status != _RUNNING:
        return f"ended ({beat.status}) after {beat.step:,} steps"
    if beat.event in _MOMENTS:
        return f"{_MOMENTS[beat.event]} {beat.step:,} steps{where}"
    return f"{'waits' if beat.inside else 'was last'} in {beat.event} at step {beat.step:,}{where}"


def _last_words(records: Sequence[HangRecord]) -> list[HangRecord]:
    """Return one record a silence: where it is over, the one that says so, with what the first one saw."""
    kept: dict[int, HangRecord] = {}
    for record in records:
        before = kept.get(record.step)
        kept[record.step] = record if before is None or not record.over else _closed(before, record)
    return list(kept.values())


def _closed(first: HangRecord, last: HangRecord) -> HangRecord:
    return HangRecord(step=first.step, seconds=last.seconds, over=True, beats=first.beats)


def _still(ranks: Ranks, min_seconds: float) -> Silence | None:
    """Return the silence of ranks that still run and have told nothing new for so long."""
    beats = {rank: beat for rank, beat in ranks.beats.items() if _goes_on(ranks, rank, beat)}
    if not beats:
        return None
    quiet = min(beat.seconds + beat.age for beat in beats.values())
    if quiet < min_seconds:
        return None
    step = max(beat.step for beat in beats.values())
    everyone = dict(ranks.beats)
    return Silence(step=step, seconds=quiet, over=False, beats=everyone, silent=_waited_for(everyone, ranks))


def _goes_on(ranks: Ranks, rank: int, beat: BeatRecord) -> bool:
    run = ranks.runs.get(rank)
    return beat.status == _RUNNING and (run is None or run.status is Status.RUNNING)


def _waited_for(beats: Mapping[int, BeatRecord], ranks: Ranks) -> tuple[int, ...]:
    """Return the ranks that keep the others waiting: dead ones, else those that wait in nothing, else the hindmost."""
    dead = tuple(rank for rank in ranks.lost if rank in beats)
    if dead:
        return dead
    outside = tuple(rank for rank, beat in beats.items() if not beat.inside)
    if outside and len(outside) < len(beats):
        return outside
    hindmost = min((beat.step for beat in beats.values()), default=0)
    behind = tuple(rank for rank, beat in beats.items() if beat.step == hindmost)
    return behind if len(behind) < len(beats) else ()


def _is_echo(crash: CrashRecord) -> bool:
    said = crash.message.lower()
    return any(words in said for words in ECHOES)
