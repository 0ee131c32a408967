"""This file is the settings of a guard."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import torch

from torchmagic.guard.splitting import Splitting


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardSettings:
    """How a guard behaves; ``TrainingGuard`` tells what each setting means.

    Raises:
        ValueError: If a setting makes no sense; one line.
    """

    before_step: Callable[[], Any] | None = None
    reduction: Literal["mean", "sum"] = "mean"
    splitting: Splitting = field(default_factory=Splitting)
    micro_batch: int | None = None
    keep_every: int | None = 100
    keep_on: torch.device | str | None = "cpu"
    keep_bytes: int | None = None
    largest_loss: float = math.inf
    largest_growth: float = 100.0
    max_failures: int = 5
    max_retries: int = 3
    retry_on: tuple[type[Exception], ...] = ()
    backoff: float = 0.1

    def __post_init__(self) -> None:
        if self.reduction not in ("mean", "sum"):
            raise ValueError(f'reduction is "mean" or "sum", as the loss has it, {self.reduction!r} came')
        for name, least in (("max_failures", 1), ("max_retries", 0)):
            _whole(name, getattr(self, name), least)
        for name in ("micro_batch", "keep_every", "keep_bytes"):
            if getattr(self, name) is not None:
                _whole(name, getattr(self, name), 1)
        for name in ("largest_loss", "largest_growth"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} is a number above 0, {getattr(self, name)!r} came")
        _check_kinds(self)
        try:
            _ = self.keep_device
        except (RuntimeError, TypeError):
            raise ValueError(f'keep_on is a device such as "cpu", or None, {self.keep_on!r} came') from None
        if not self.backoff >= 0:
            raise ValueError(f"backoff is a number of seconds of 0 or more, {self.backoff!r} came")

    @property
    def keep_device(self) -> torch.device | None:
        """Where the last good state is kept; None for beside each tensor."""
        return None if self.keep_on is None else torch.device(self.keep_on)


def _whole(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{name} is a whole number of {least} or more, {value!r} came")


def _check_kinds(settings: GuardSettings) -> None:
    """Refuse what would fail, or hide the error of the user's own code, only once it is needed."""
    if settings.before_step is not None and not callable(settings.before_step):
        raise ValueError(f"before_step is a function without arguments, or None, {settings.before_step!r} came")
    if not isinstance(settings.splitting, Splitting):
        raise ValueError(f"splitting is a Splitting, or None, {settings.splitting!r} came")  # noqa: TRY004 - a setting
    try:
        isinstance(None, settings.retry_on)
    except TypeError:
        known = "retry_on is a tuple of classes of errors, such as (OSError,)"
        raise ValueError(f"{known}, {settings.retry_on!r} came") from None
