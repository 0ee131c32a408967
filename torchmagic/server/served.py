"""This file is what is served: a session, and what may be asked of the process behind it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from torchmagic.session.history import Entry
from torchmagic.session.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingCounts:
    """What training debuggers counted.

    Args:
        steps: Steps that were looked at.
        anomalies: Those with an anomaly of any kind.
        exploding: Those whose gradients exploded.
        vanishing: Those whose gradients vanished.
        losses: Those whose loss was not finite, or stood out.
        remembered: Entries of their histories.
    """

    steps: int
    anomalies: int
    exploding: int
    vanishing: int
    losses: int
    remembered: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What other debuggers counted: anomalies, and entries of their histories."""

    anomalies: int
    remembered: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleared:
    """What was forgotten: histories of debuggers, and runs."""

    debuggers: int
    runs: int


class Debuggers(Protocol):
    """What the debuggers of a process counted, kind by kind; None where none of a kind is alive."""

    def training(self) -> TrainingCounts | None:
        """Return what the training debuggers counted together."""

    def diffusion(self) -> Counts | None:
        """Return what the diffusion debuggers counted together."""

    def general(self) -> Counts | None:
        """Return what the other debuggers counted together."""


class NoDebuggers:
    """The debuggers of a store: it has none."""

    def training(self) -> None:
        """Return None."""

    def diffusion(self) -> None:
        """Return None."""

    def general(self) -> None:
        """Return None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A session, as functions.

    Args:
        history: Returns one line a run, oldest first.
        read: Returns a run whole, by number, name, id or ``last``; raises KeyError, with one line, where there is none.
        here: Returns the runs of this process, oldest first; None where a store is served and no process.
        debuggers: What debuggers counted.
        set_level: Sets the level of all runs, and returns it; None where no process is served.
        clear: Forgets histories and runs of the process; None where none is served.
    """

    history: Callable[[], list[Entry]]
    read: Callable[[str], Run]
    here: Callable[[], tuple[Run, ...]] | None = None
    debuggers: Debuggers
    set_level: Callable[[str], str] | None = None
    clear: Callable[[], Cleared] | None = None
