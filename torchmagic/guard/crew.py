"""This file is what the steps of one guard share: model and optimizer, copies of their state, counts, and the log."""

import itertools
import logging
import math
from collections import Counter, deque
from typing import Any

import torch
from torch import nn

from torchmagic.guard.error_kinds import ErrorCategory, ErrorSeverity
from torchmagic.guard.error_tracker import ErrorTracker
from torchmagic.guard.good_state import GoodState
from torchmagic.guard.guard_settings import GuardSettings
from torchmagic.guard.recovery_kinds import Recovery, RecoveryKind, StepOutcome
from torchmagic.guard.step_start import StepStart
from torchmagic.probes.free_memory import free_bytes

MOST_RECOVERIES = 1000
_MB = 2**20
_log = logging.getLogger("torchmagic.guard")


class Crew:
    """What the steps of one guard share.

    Args:
        model: The model.
        optimizer: The optimizer.
        scaler: The gradient scaler, if there is one.
        settings: How the guard behaves.
        error_tracker: Where failures are kept.

    Attributes:
        micro_batch: Samples in a part at most; None for no limit.
        num_steps: Guarded steps so far.
        num_failed: Steps in a row that gave no update.
        recoveries: The last things that were done.
        counts: How often each kind of thing was done.
        last: How the last step ended.
    """

    def __init__(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        scaler: Any,
        settings: GuardSettings,
        error_tracker: ErrorTracker,
    ) -> None:
        self.model, self.optimizer, self.settings = model, optimizer, settings
        self.scaler: Any = scaler if scaler is not None and scaler.is_enabled() else None
        self.error_tracker = error_tracker
        self.start = StepStart(model)
        self.good = GoodState(model, optimizer, settings.keep_device)
        self.micro_batch = settings.micro_batch
        self.num_steps = self.num_failed = 0
        self.recoveries: deque[Recovery] = deque(maxlen=MOST_RECOVERIES)
        self.counts: Counter[RecoveryKind] = Counter()
        self.last: StepOutcome | None = None
        self._keeps = settings.keep_every is not None
        # Norm of weights that grew suddenly: they are kept only when a step was finite with them.
        self._doubted: float | None = None

    def begin(self) -> None:
        """Begin a step: remember where it begins; before the first one, keep the state as it is if it is good."""
        self.num_steps += 1
        self.last = StepOutcome(step=self.num_steps, stepped=False)
        if self.num_steps == 1 and self._keeps:
            self.keep(before=True)
        self.start.note()

    def update(self) -> None:
        """Step the optimizer."""
        if self.settings.before_step is not None:
            self.settings.before_step()
        if self.scaler is None:
            self.optimizer.step()
        else:
            self.scaler.step(self.optimizer)
            self.scaler.update()

    def did(self, kind: RecoveryKind, category: ErrorCategory, happened: str, done: str) -> Recovery:
        """Note what happened in the step under way and what was done about it: here, in the log, in the tracker."""
        recovery = Recovery(step=self.num_steps, kind=kind, text=f"step {self.num_steps}: {happened}; {done}")
        self.recoveries.append(recovery)
        self.counts[kind] += 1
        severity = ErrorSeverity.ERROR if kind is RecoveryKind.STOPPED else ErrorSeverity.WARNING
        context = {"step": self.num_steps, "recovery": kind.value, "done": done}
        self.error_tracker.track_error(recovery.text, severity, category, context)
        return recovery

    def recoveries_now(self) -> tuple[Recovery, ...]:
        """Return what was done in the step under way."""
        now = list(itertools.takewhile(lambda each: each.step == self.num_steps, reversed(self.recoveries)))
        return tuple(reversed(now))

    def keeps_now(self) -> bool:
        """Whether the state after the step under way is to be kept."""
        every = self.settings.keep_every
        due = every is not None and self.num_steps % every == 0
        return self._keeps and (due or self._doubted is not None)

    def keep(self, *, before: bool = False) -> str:
        """Copy the state as it is after the step under way, or before it.

        Returns:
            What is certainly wrong with it, in words; empty otherwise. Weights that grew suddenly are not kept before
            a step was finite with them, and are not wrong for that.
        """
        norm = self.good.weight_norm()
        if not math.isfinite(norm):
            return self.trouble(norm)
        if self._has_grown(norm, self._doubted or self.good.norm):
            self._doubted = norm
        elif self._has_room():
            self.good.take(self.num_steps - before, norm)
            self.start.look_again()
            self._doubted = None
        return ""

    def take_back(self) -> None:
        """Bring back what the step under way changed before its update."""
        self.optimizer.zero_grad(set_to_none=True)
        self.start.put_back()

    def trouble(self, norm: float) -> str:
        """Return what is wrong with weights of such a norm in a step that went bad, in words; empty for nothing."""
        if not math.isfinite(norm):
            return f"weights are not finite (the first is {self.good.bad_tensor() or 'unknown'})"
        if self._has_grown(norm, self.good.norm):
            return (
                f"the norm of all weights is {norm:.3g}, {norm / self.good.norm:.3g} times that of the last good ones"
            )
        return ""

    def _has_grown(self, norm: float, before: float) -> bool:
        return self.good.step is not None and 0 < before * self.settings.largest_growth < norm

    def _has_room(self) -> bool:
        needed = self.good.num_needed()
        more = needed - self.good.num_bytes
        if more <= 0:
            return True
        most = self.settings.keep_bytes
        if needed > most if most is not None else more > free_bytes() // 2:
            limit = "keep_bytes" if most is not None else "half of what is free"
            _log.warning(
                "no copy of the last good state is kept: it takes %.1f MB, more than %s; bad weights stop the training",
                needed / _MB,
                limit,
            )
            self._keeps = False
            self.good.drop()
            return False
        return True
