"""This file is ``RobustOperations``: operations that answer with a result where others raise."""

import time
from collections.abc import Callable

from torchmagic.guard.error_tracker import ErrorTracker
from torchmagic.guard.inference import ModelInference


class RobustOperations:
    """Operations on models that try again what may pass, and answer with a result instead of an error.

    Args:
        error_tracker: Where failures are kept; a new one where None.
        retry_on: Classes of errors that may pass, beside those that are known to.
        backoff: Seconds before the second attempt; twice as many before each further one, at most 5 s.
        sleep: What waits so many seconds.

    Attributes:
        error_tracker: Where failures are kept.
        model_inference: Has ``safe_inference``.

    Raises:
        ValueError: If ``backoff`` is below 0; one line.

    Example:
        >>> robust_ops = RobustOperations()
        >>> result = robust_ops.model_inference.safe_inference(model=torch.nn.Linear(2, 1), input_data=torch.ones(4, 2))
        >>> result.success, tuple(result.data.shape), result.attempts
        (True, (4, 1), 1)
    """

    def __init__(
        self,
        error_tracker: ErrorTracker | None = None,
        *,
        retry_on: tuple[type[Exception], ...] = (),
        backoff: float = 0.1,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        if not backoff >= 0:
            raise ValueError(f"backoff is a number of seconds of 0 or more, {backoff!r} came")
        self.error_tracker = ErrorTracker() if error_tracker is None else error_tracker
        self.model_inference = ModelInference(self.error_tracker, retry_on=retry_on, backoff=backoff, sleep=sleep)
