"""This file is what a guard did about a failure, how a guarded step ended, and the error of a guard that gives up."""

from dataclasses import dataclass
from enum import StrEnum


class RecoveryKind(StrEnum):
    """What a guard did about a failure."""

    HALVED = "halved"
    SKIPPED = "skipped"
    RESTORED = "restored"
    RETRIED = "retried"
    SCALE_LOWERED = "scale lowered"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """One thing that a guard did.

    Args:
        step: Number of the guarded step, from 1.
        kind: What was done.
        text: What happened and what was done about it, in one line, as in the log.
    """

    step: int
    kind: RecoveryKind
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOutcome:
    """How one guarded step ended.

    Args:
        step: Its number, from 1.
        stepped: Whether the optimizer stepped, and the step was not taken back.
        loss: The loss over the whole batch; None where there is none.
        grad_norm: L2 norm of all gradients before clipping, without a loss scale; None where it was not measured.
        num_parts: Parts that the batch was cut into.
        recoveries: What the guard did.
    """

    step: int
    stepped: bool
    loss: float | None = None
    grad_norm: float | None = None
    num_parts: int = 1
    recoveries: tuple[Recovery, ...] = ()


class RecoveryError(RuntimeError):
    """Raised when a guard gives up: one line says what failed, how often, and what to look at."""
