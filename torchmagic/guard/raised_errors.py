"""This file is what a guard does about what a part of a step raised: smaller parts, or another try after a pause."""

import time

from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

from torchmagic.guard.crew import Crew
from torchmagic.guard.error_kinds import ErrorCategory
from torchmagic.guard.failures import is_out_of_memory, is_transient
from torchmagic.guard.recovery_kinds import RecoveryError, RecoveryKind
from torchmagic.guard.recovery_strategy import free_unused_memory
from torchmagic.models.running import told

_LONGEST_WAIT = 5.0


class RaisedErrors:
    """Deals with what is raised in the parts of one step.

    Args:
        crew: What the steps of one guard share.
    """

    def __init__(self, crew: Crew) -> None:
        self._crew = crew
        self._retries = 0
        self._pause: float | None = None

    def take(self, error: BaseException, num_samples: int | None) -> bool:
        """Tell whether something can be done about an error, and prepare it.

        Args:
            error: What was raised.
            num_samples: Samples in the part that raised it; None where they cannot be counted.

        Raises:
            RecoveryError: If memory does not suffice for a single sample.
        """
        if is_out_of_memory(error):
            self._halve(error, num_samples)
            return True
        settings = self._crew.settings
        if not isinstance(error, Exception) or not (is_transient(error) or isinstance(error, settings.retry_on)):
            return False
        if self._retries >= settings.max_retries:
            done = f"{self._retries} retries did not help"
            self._crew.did(RecoveryKind.STOPPED, ErrorCategory.TRAINING, told(error), done)
            return False
        self._pause = min(settings.backoff * 2**self._retries, _LONGEST_WAIT)
        self._retries += 1
        done = f"tried again after {self._pause:g} s ({self._retries} of {settings.max_retries})"
        self._crew.did(RecoveryKind.RETRIED, ErrorCategory.TRAINING, told(error), done)
        return True

    def ready(self) -> None:
        """Give memory back, or wait: whichever helps before the next attempt."""
        if self._pause is None:
            free_unused_memory()
        else:
            time.sleep(self._pause)
        self._pause = None

    def _halve(self, error: BaseException, size: int | None) -> None:
        crew = self._crew
        if size is None or size < 2:  # noqa: PLR2004 - what can be halved
            what = "a batch that cannot be cut" if size is None else "one sample"
            done = "give the guard a Splitting for it" if size is None else "use a smaller model or smaller samples"
            recovery = crew.did(RecoveryKind.STOPPED, ErrorCategory.MEMORY, f"out of memory with {what}", done)
            crew.take_back()
            raise RecoveryError(recovery.text) from error
        note = _mixing_note(crew.model) if crew.micro_batch is None else ""
        crew.micro_batch = -(-size // 2)
        done = f"parts of at most {crew.micro_batch} from here on, whose gradients add up to those of the batch{note}"
        crew.did(RecoveryKind.HALVED, ErrorCategory.MEMORY, f"out of memory with {size} samples at once", done)


def _mixing_note(model: nn.Module) -> str:
    mixes = any(isinstance(each, _BatchNorm) and each.training for each in model.modules())
    return " (not quite: batch norm takes its statistics of each part alone)" if mixes else ""
