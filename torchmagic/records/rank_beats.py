"""This file is the beats of ranks: what each did last, and what all of them did last when one fell silent."""

from dataclasses import dataclass

from torchmagic.records.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class BeatRecord:
    """What a rank did last, as it told itself in its beat file about once a second.

    Args:
        rank: Which rank.
        host: Its machine.
        pid: Its process.
        status: ``running``, or how the run ended: ``ok``, ``error`` or ``interrupted``.
        error: What ended it, as ``RuntimeError: Connection closed by peer``; a rank that another one's death ended says
            so here, where the dead one is still ``running``. Empty where nothing did.
        step: Optimizer steps made before.
        event: What it did last: ``start``, ``batch``, ``forward``, ``backward``, ``optimizer``, ``step done``, or the
            name of a collective such as ``all_reduce``.
        inside: Whether that still went on, as far as is known: a rank waits inside a collective.
        seconds: Seconds since it began, by the rank's own monotonic clock.
        place: Line of the user's at which its main thread stood; None where it stood in none.
        wall: When it told so: seconds since the epoch, by its own clock.
        age: Seconds since it told so, by the clock of the disk's host; at the moment of reading.
    """

    rank: int
    host: str
    pid: int
    status: str
    step: int
    event: str
    inside: bool
    seconds: float
    place: Place | None
    wall: float
    age: float = 0.0
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HangRecord:
    """This rank made no progress for longer than it should, and looked what all ranks did last; once a silence.

    Args:
        step: Optimizer steps made before.
        seconds: How long nothing had happened on this rank.
        over: Whether it went on afterwards; then this is a second record of the same silence.
        beats: What every rank told last, in order of rank; ranks that told nothing are left out.
    """

    step: int
    seconds: float
    over: bool
    beats: tuple[BeatRecord, ...]
