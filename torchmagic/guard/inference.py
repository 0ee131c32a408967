"""This file is inference that does not fail for what may pass: input checks, retries, another device, a result."""

import time
import traceback
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from torchmagic.guard.error_kinds import ErrorCategory, ErrorSeverity, category_of
from torchmagic.guard.error_tracker import ErrorTracker
from torchmagic.guard.failures import is_out_of_memory, may_pass
from torchmagic.guard.inference_attempt import CPU, Attempt, InferenceResult, NonFiniteOutputError, device_of
from torchmagic.guard.input_spec import InputSpec
from torchmagic.guard.inputs import Specs
from torchmagic.guard.recovery_strategy import free_unused_memory
from torchmagic.models.running import told
from torchmagic.models.sources import as_source

FINITE = InputSpec()
_LONGEST_WAIT = 5.0


class ModelInference:
    """Runs models for their outputs only, and answers with a result instead of an error.

    Args:
        error_tracker: Where failures are kept.
        retry_on: Classes of errors that may pass, beside those that are known to.
        backoff: Seconds before the second attempt; twice as many before each further one, at most 5 s.
        sleep: What waits so many seconds.
    """

    def __init__(
        self,
        error_tracker: ErrorTracker,
        *,
        retry_on: tuple[type[Exception], ...] = (),
        backoff: float = 0.1,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self.error_tracker = error_tracker
        self._retry_on, self._backoff, self._sleep = retry_on, backoff, sleep

    def safe_inference(
        self,
        model: Any,
        input_data: Any,
        device: torch.device | str | None = None,
        max_retries: int = 3,
        *,
        spec: Specs = FINITE,
    ) -> InferenceResult:
        """Run a model in evaluation mode and without a graph; say what came of it.

        The input is checked first. An error that may pass (a connection, a time limit, a plain ``RuntimeError`` that is
        no mistake in shapes, dtypes or devices) is tried again after a pause. Out of memory on an accelerator, the CPU
        is tried. An input that fails its checks, a mistake, and an output with NaN or infinity are not tried again.

        The model keeps its modes, its device and its weights. On another device than its own a copy is run, which
        costs a copy of its weights each time, and leaves hooks of yours behind.

        Args:
            model: A module, compiled or not.
            input_data: A batch as the model takes it: a tensor, a tuple or list by position, or a dictionary by name.
            device: Where to run it; None for where it is.
            max_retries: How often to try again after the first attempt.
            spec: What the input has to be like, see ``validate_model_input``; finite where nothing is said, None for
                no check.

        Returns:
            The output, or why there is none.

        Raises:
            TypeError: If there is no model; one line.
            ValueError: If ``max_retries`` is no whole number of 0 or more, or there is no such device.
        """
        if not isinstance(model, nn.Module):
            components = as_source(model).components
            raise TypeError(f"one model was wanted, {len(components)} came; name the one to run")
        if isinstance(max_retries, bool) or not isinstance(max_retries, int) or max_retries < 0:
            raise ValueError(f"max_retries is a whole number of 0 or more, {max_retries!r} came")
        home = device_of(model)
        attempt = Attempt(model, input_data, home if device is None else _device(device))
        start = time.perf_counter()
        error = self._answer(attempt, max_retries, spec)
        seconds = time.perf_counter() - start
        if error is None:
            return attempt.result(seconds)
        category = ErrorCategory.INPUT if attempt.is_refused else category_of(error)
        context = {"operation": "inference", "attempts": attempt.count, "device": str(attempt.device)}
        self.error_tracker.track_error(error, ErrorSeverity.ERROR, category, context)
        is_ours = attempt.is_refused or isinstance(error, NonFiniteOutputError)
        return attempt.result(seconds, message=str(error) if is_ours else told(error), category=category)

    def _answer(self, attempt: Attempt, max_retries: int, spec: Specs) -> Exception | None:
        """Run until there is an output or nothing more to try; return the last error."""
        refusal = attempt.refusal(spec)
        if refusal is not None:
            return refusal
        for number in range(max_retries + 1):
            error = attempt.run()
            if error is None:
                return attempt.nonfinite()
            if number == max_retries or not self._prepared(attempt, error):
                return error
            attempt.notes.append(f"attempt {attempt.count}: {told(error)}; tried again on {attempt.device}")
            self._sleep(min(self._backoff * 2**number, _LONGEST_WAIT))
        return None

    def _prepared(self, attempt: Attempt, error: Exception) -> bool:
        """Whether another attempt makes sense; the device is changed where this one is full."""
        traceback.clear_frames(error.__traceback__)  # their tensors would be in memory beside the next attempt's
        if is_out_of_memory(error):
            free_unused_memory()
            attempt.device = CPU
            return True
        return may_pass(error) or isinstance(error, self._retry_on)


def _device(device: torch.device | str) -> torch.device:
    try:
        return torch.device(device)
    except (RuntimeError, TypeError):
        raise ValueError(f'device is a torch.device or its name such as "cpu" or "cuda:0", {device!r} came') from None
