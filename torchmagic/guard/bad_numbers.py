"""This file is what a guard does about bad numbers: skip the batch, restore the last good state, lower a scale."""

import math
from typing import Any

from torchmagic.analyses.counting import counted
from torchmagic.guard.batch_fields import fields_of
from torchmagic.guard.crew import Crew
from torchmagic.guard.error_kinds import ErrorCategory
from torchmagic.guard.extent import extent_of
from torchmagic.guard.recovery_kinds import RecoveryError, RecoveryKind
from torchmagic.guard.step_health import Health


class BadNumbers:
    """Deals with losses, gradients and weights of one step that are not finite, or far too large.

    Args:
        crew: What the steps of one guard share.
    """

    def __init__(self, crew: Crew) -> None:
        self._crew = crew
        self._is_restored = False

    def trouble(self, health: Health) -> str:
        """Return what is wrong with losses and gradients, in words; empty where nothing is."""
        largest = self._crew.settings.largest_loss
        count = len(health.losses)
        for number, loss in enumerate(health.losses, start=1):
            which = "the loss" if count == 1 else f"loss {number} of {count}"
            if not math.isfinite(loss):
                return f"{which} is {loss:g}"
            if abs(loss) > largest:
                return f"{which} is {loss:.3g}, beyond largest_loss ({largest:g})"
        if self._crew.scaler is None and not math.isfinite(health.norm):
            return "the loss is finite and its gradients are not"
        return ""

    def treat(self, trouble: str, batch: Any) -> bool:
        """Take a step back that has not updated the weights.

        Args:
            trouble: What is wrong, in words.
            batch: The batch, which is skipped if the weights are good.

        Returns:
            Whether the batch is to be tried again, on the last good weights.

        Raises:
            RecoveryError: If it happens too often, or weights are bad and there is no copy of good ones.
        """
        self._crew.num_failed += 1
        self._crew.take_back()
        worn = self._crew.trouble(self._crew.good.weight_norm())
        again = bool(worn) and not self._is_restored
        if worn:
            self._restore(f"{trouble}, and {worn}", "batch tried again" if again else "batch skipped")
            self._is_restored = True
        else:
            happened = f"{trouble}{_blame(batch)}"
            self._crew.did(RecoveryKind.SKIPPED, ErrorCategory.NUMERICAL, happened, "batch skipped")
        self._stop_if_hopeless(trouble)
        return again

    def treat_update(self, trouble: str) -> None:
        """Take an update back that made the weights bad.

        Args:
            trouble: What is wrong with them, in words.

        Raises:
            RecoveryError: If it happens too often, or there is no copy of good weights.
        """
        self._crew.num_failed += 1
        self._crew.take_back()
        happened = f"after the update {trouble}"
        self._restore(happened, "batch skipped")
        self._stop_if_hopeless(happened)

    def lower_scale(self) -> None:
        """Let the scaler do what it does when gradients overflow: skip the step and lower its scale.

        Raises:
            RecoveryError: If the gradients are not finite at a scale below 1 either, too often.
        """
        crew = self._crew
        before = crew.scaler.get_scale()
        crew.scaler.step(crew.optimizer)
        crew.scaler.update()
        now = crew.scaler.get_scale()
        happened = "the loss is finite and its scaled gradients are not"
        done = f"batch skipped, loss scale {before:g} → {now:g}"
        crew.did(RecoveryKind.SCALE_LOWERED, ErrorCategory.NUMERICAL, happened, done)
        # Down to a scale of 1 the scaler is looking for its scale; below, the gradients themselves are the trouble.
        if now < 1:
            crew.num_failed += 1
            self._stop_if_hopeless(happened)

    def _restore(self, happened: str, then: str) -> None:
        crew = self._crew
        if crew.good.step is None:
            kept = (
                "no copy of good weights is kept" if crew.settings.keep_every is None else "there is no good copy yet"
            )
            done = f"{kept}; stopped"
            recovery = crew.did(RecoveryKind.STOPPED, ErrorCategory.NUMERICAL, happened, done)
            raise RecoveryError(recovery.text)
        crew.good.put_back()
        # The buffers are others now; random numbers go on from where this step began.
        crew.start.note()
        lost = crew.num_steps - 1 - crew.good.step
        updates = f"up to {counted(lost, 'update')} lost" if lost else "no update lost"
        done = f"weights and optimizer state of step {crew.good.step} restored, {updates}, {then}"
        crew.did(RecoveryKind.RESTORED, ErrorCategory.NUMERICAL, happened, done)

    def _stop_if_hopeless(self, trouble: str) -> None:
        crew = self._crew
        if crew.num_failed < crew.settings.max_failures:
            return
        happened = f"{crew.num_failed} failures in a row, the last one: {trouble}"
        done = "stopped; look at the data, the learning rate and the loss"
        recovery = crew.did(RecoveryKind.STOPPED, ErrorCategory.NUMERICAL, happened, done)
        raise RecoveryError(recovery.text)


def _blame(batch: Any) -> str:
    """Return what of the batch itself is not finite, in words; empty where all is."""
    found = []
    for place, tensor in fields_of(batch):
        extent = extent_of(tensor)
        if extent is not None and extent.num_nonfinite:
            found.append(f"{place or 'the batch'}: {extent.num_nonfinite}")
    return f" (values that are not finite in the batch: {', '.join(found)})" if found else ""
