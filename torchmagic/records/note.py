"""This file is the note: what torchmagic could not see, or failed at, said instead of guessed."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureRecord:
    """A probe raised and was switched off; the run went on without it."""

    probe: str
    error: str
    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRecord:
    """Something a reader of the run should know, in one sentence."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashRecord:
    """The exception that ended the run: its class, message and the user's innermost line."""

    error: str
    message: str
    file: str
    line: int
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentRecord:
    """Where the run took place: versions, devices, threads, and cores it may use (0 where that is not known).

    A run has one more, the one to read, if it opened a device that was not open when it began.

    Attributes:
        device: The device that is current, or ``cpu``.
        devices: Names of all devices that torch has opened.
        torchmagic: Its version.
        seed: What torch's generator was seeded with last, before the run; ``BeginningRecord`` has what training began
            with.
        deterministic: Whether torch was told to use deterministic algorithms only.
        default_dtype: The type of new floating tensors.
        commit: The git commit of the working folder; empty where there is none.
        changed: Whether files that git knows differed from that commit; None where that is not known.
    """

    torch: str
    python: str
    platform: str
    device: str
    num_threads: int
    num_cores: int = 0
    devices: tuple[str, ...] = ()
    torchmagic: str = ""
    seed: int | None = None
    deterministic: bool = False
    default_dtype: str = ""
    commit: str = ""
    changed: bool | None = None
