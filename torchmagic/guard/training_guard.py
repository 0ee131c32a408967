"""This file is ``TrainingGuard``: training steps that recover from full memory, bad numbers and passing failures."""

import math
from collections.abc import Callable, Iterable
from typing import Any, Literal

import torch
from torch import nn

from torchmagic.guard.crew import Crew
from torchmagic.guard.error_tracker import ErrorTracker
from torchmagic.guard.guard_settings import GuardSettings
from torchmagic.guard.guarded_step import GuardedStep
from torchmagic.guard.recovery_kinds import Recovery, StepOutcome
from torchmagic.guard.splitting import Splitting
from torchmagic.guard.step_part import Part


class TrainingGuard:
    """Guards the steps of a training; without a failure the numbers are the same bits as without it.

    Out of memory: the step begins again in parts of half as many samples, whose gradients add up to those of the whole
    batch. A loss or gradient that is not finite: the batch is skipped, as if it had not been there; if the weights are
    bad, the last good weights and the optimizer's state come back and the batch is tried again. With a gradient scaler,
    gradients that overflow while the loss is finite lower its scale. Failures that may pass: the step begins again
    after a pause. Too many failures in a row end in ``RecoveryError``. Everything is in the log ``torchmagic.guard``.

    It keeps one copy of weights, buffers and optimizer state, and holds model and optimizer as a scheduler holds its
    optimizer; no batch, loss, gradient or graph.

    Args:
        model: The model; a compiled or wrapped one as it is called.
        optimizer: The optimizer, any whose ``step()`` needs no closure.
        scaler: The ``torch.amp.GradScaler`` of the training.
        before_step: Called when the gradients are ready, without a loss scale, such as
            ``lambda: torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)``.
        reduction: ``"mean"`` or ``"sum"``: how the loss is taken over samples.
        splitting: How a batch is cut, and what a mean is taken over.
        micro_batch: Samples in a part at most; None for whole batches until memory is full.
        keep_every: Updates between copies of the good state; 1 loses no update and costs a copy each step. None for no
            copy: bad weights end the training.
        keep_on: Device of the copy; None for beside each tensor.
        keep_bytes: Bytes that a copy may take; None for half of what is free. Beyond, none is kept; the log says so.
        largest_loss: A loss of a greater magnitude counts as bad.
        largest_growth: Weights whose norm grew by more than this since the last copy count as bad.
        max_failures: Steps in a row without an update, or restorations, after which the guard gives up.
        max_retries: How often a step is tried again after a failure that may pass.
        retry_on: Classes of errors that may pass, beside those of connections, time limits and busy resources.
        backoff: Seconds before the first retry; twice as many before each further one, at most 5 s.
        error_tracker: Where failures are kept; a new one where None.

    Attributes:
        error_tracker: Where failures are kept.

    Raises:
        TypeError: If there is no module, or no optimizer; one line.
        ValueError: If a setting makes no sense; one line.

    Example:
        >>> model = torch.nn.Linear(2, 1)
        >>> guard = TrainingGuard(model, torch.optim.SGD(model.parameters(), lr=0.1))
        >>> for part in guard.step((torch.ones(4, 2), torch.ones(4, 1))):
        ...     with part as (inputs, targets):
        ...         part.backward(torch.nn.functional.mse_loss(model(inputs), targets))
        >>> guard.last.stepped
        True
    """

    def __init__(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        *,
        scaler: Any = None,
        before_step: Callable[[], Any] | None = None,
        reduction: Literal["mean", "sum"] = "mean",
        splitting: Splitting | None = None,
        micro_batch: int | None = None,
        keep_every: int | None = 100,
        keep_on: torch.device | str | None = "cpu",
        keep_bytes: int | None = None,
        largest_loss: float = math.inf,
        largest_growth: float = 100.0,
        max_failures: int = 5,
        max_retries: int = 3,
        retry_on: tuple[type[Exception], ...] = (),
        backoff: float = 0.1,
        error_tracker: ErrorTracker | None = None,
    ) -> None:
        settings = GuardSettings(
            before_step=before_step,
            reduction=reduction,
            splitting=splitting or Splitting(),
            micro_batch=micro_batch,
            keep_every=keep_every,
            keep_on=keep_on,
            keep_bytes=keep_bytes,
            largest_loss=largest_loss,
            largest_growth=largest_growth,
            max_failures=max_failures,
            max_retries=max_retries,
            retry_on=retry_on,
            backoff=backoff,
        )
        _check(model, optimizer)
        self.error_tracker = ErrorTracker() if error_tracker is None else error_tracker
        self._crew = Crew(model, optimizer, scaler, settings, self.error_tracker)

    def step(self, batch: Any) -> Iterable[Part]:
        """Begin a step: clear the gradients, go through the parts of a batch, step the optimizer.

        Args:
            batch: A tensor, or dictionaries, tuples and lists of tensors with the samples in their first dimension.

        Returns:
            What to loop over: ``for part in guard.step(batch):`` and in it ``with part as batch:``. Usually one part,
            which is the batch itself.
        """
        return GuardedStep(self._crew, batch)

    def run(self, loss_of: Callable[[Any], torch.Tensor], batch: Any) -> StepOutcome:
        """Do a whole step with a function of the batch; the names in it hold nothing when memory is to be given back.

        Args:
            loss_of: Takes a batch, or some samples of one, and returns their loss.
            batch: The batch, as ``step`` takes it.

        Raises:
            RecoveryError: If the guard gives up.
            Exception: What ``loss_of`` raises and nothing can be done about.
        """
        for part in self.step(batch):
            with part as samples:
                part.backward(loss_of(samples))
        outcome = self._crew.last
        assert outcome is not None  # noqa: S101 - a step notes how it ended
        return outcome

    @property
    def last(self) -> StepOutcome | None:
        """How the last step ended; None before the first."""
        return self._crew.last

    @property
    def num_steps(self) -> int:
        """Steps so far, skipped ones too."""
        return self._crew.num_steps

    @property
    def micro_batch(self) -> int | None:
        """Samples in a part at most, as memory taught; None while batches are whole. May be set."""
        return self._crew.micro_batch

    @micro_batch.setter
    def micro_batch(self, most: int | None) -> None:
        self._crew.micro_batch = GuardSettings(micro_batch=most).micro_batch

    @property
    def recoveries(self) -> tuple[Recovery, ...]:
        """What was done, oldest first; the last 1000."""
        return tuple(self._crew.recoveries)

    @property
    def counts(self) -> dict[str, int]:
        """How often each kind of thing was done, such as ``{"skipped": 2}``."""
        return {kind.value: count for kind, count in self._crew.counts.items()}

    @property
    def kept_bytes(self) -> int:
        """Memory that the copies of the last good state, and of the buffers, take."""
        return self._crew.good.num_bytes + self._crew.start.num_bytes


def _check(model: Any, optimizer: Any) -> None:
    if not isinstance(model, nn.Module):
        raise TypeError(f"a guard takes the model, a torch.nn.Module; {type(model).__name__} came")
    if not isinstance(optimizer, torch.optim.Optimizer):
        raise TypeError(f"a guard takes the optimizer, a torch.optim.Optimizer; {type(optimizer).__name__} came")
    if isinstance(optimizer, torch.optim.LBFGS):
        raise ValueError(  # noqa: TRY004 - a right type of the wrong kind
            "LBFGS runs the model in its step, by a closure; a guard takes optimizers that need none"
        )
