"""This file is one guarded step: it gives the parts of a batch, steps the optimizer, begins again after a failure."""

import math
from collections.abc import Iterator
from typing import Any

from torchmagic.guard.bad_numbers import BadNumbers
from torchmagic.guard.crew import Crew
from torchmagic.guard.raised_errors import RaisedErrors
from torchmagic.guard.recovery_kinds import StepOutcome
from torchmagic.guard.splitting import pieces_of
from torchmagic.guard.step_health import Health, gradients_of, health_of, losses_of
from torchmagic.guard.step_part import Part


class GuardedStep:
    """One step under guard, gone through once: it gives the parts of the batch, and then steps the optimizer.

    Args:
        crew: What the steps of one guard share.
        batch: The batch.
    """

    def __init__(self, crew: Crew, batch: Any) -> None:
        self._crew, self._batch = crew, batch
        self._raised, self._numbers = RaisedErrors(crew), BadNumbers(crew)
        self._part: Part | None = None
        self._done: list[Part] = []
        self._is_begun = False

    def __iter__(self) -> Iterator[Part]:
        """Give the parts of the batch; after the last one the optimizer steps, or the guard does what helps.

        Raises:
            RuntimeError: If the step was gone through before, or a part was not used as it has to be.
            RecoveryError: If the guard gives up.
        """
        if self._is_begun:
            raise RuntimeError("a guarded step is gone through once; call guard.step(batch) for each batch")
        self._is_begun = True
        try:
            yield from self._attempts()
        finally:
            self._crew.start.forget()
            self._let_go()
            self._batch = None

    def _attempts(self) -> Iterator[Part]:
        crew = self._crew
        crew.begin()
        while True:
            crew.optimizer.zero_grad(set_to_none=True)
            yield from self._parts()
            if self._part is not None and self._part.is_failed:
                self._let_go()
                crew.take_back()
                self._raised.ready()
            elif self._is_over():
                return

    def _parts(self) -> Iterator[Part]:
        """Give one part after the other, up to one that fails."""
        crew = self._crew
        self._let_go()
        for piece in pieces_of(self._batch, crew.micro_batch, crew.settings.splitting):
            part = self._part = Part(
                piece,
                share=piece.share if crew.settings.reduction == "mean" else 1.0,
                scale=None if crew.scaler is None else crew.scaler.scale,
                takes=lambda error, size=piece.num_samples: self._raised.take(error, size),  # type: ignore[misc] # size
            )
            yield part
            part.check()
            if part.is_failed:
                return
            self._done.append(part)

    def _let_go(self) -> None:
        for part in (*self._done, *([self._part] if self._part is not None else ())):
            part.let_go()
        self._done, self._part = [], None

    def _is_over(self) -> bool:
        """Step the optimizer or do what helps; whether the step is over, and not to be gone through again."""
        crew = self._crew
        health = self._health()
        trouble = self._numbers.trouble(health)
        if trouble:
            again = self._numbers.treat(trouble, self._batch)
            self._end(None)
            return not again
        if crew.scaler is not None and not math.isfinite(health.norm):
            self._numbers.lower_scale()
            self._end(None)
            return True
        crew.update()
        worn = crew.keep() if crew.keeps_now() else ""
        if worn:
            self._numbers.treat_update(worn)
            self._end(None)
            return True
        crew.num_failed = 0
        self._end(health)
        return True

    def _health(self) -> Health:
        crew = self._crew
        losses = [loss for part in self._done for loss in part.losses]
        gradients = gradients_of(crew.optimizer)
        if crew.scaler is None:
            return health_of(losses, gradients)
        values = losses_of(losses)
        # Gradients of a loss that is not finite never reach the scaler: it would take that for its own doing.
        if not all(map(math.isfinite, values)):
            return Health(losses=values, norm=math.nan)
        crew.scaler.unscale_(crew.optimizer)
        return Health(losses=values, norm=health_of((), gradients).norm)

    def _end(self, health: Health | None) -> None:
        """Note how the step ended; without health it made no update."""
        shares = [part.share for part in self._done for _ in part.losses]
        losses = () if health is None else health.losses
        self._crew.last = StepOutcome(
            step=self._crew.num_steps,
            stepped=health is not None,
            loss=None if health is None else sum(share * loss for share, loss in zip(shares, losses, strict=True)),
            grad_norm=None if health is None else health.norm,
            num_parts=len(self._done),
            recoveries=self._crew.recoveries_now(),
        )
