"""This file is the error system of a training: where errors are kept, and the first thing that is done about one."""

from collections.abc import Mapping
from typing import Any

from torchmagic.guard.error_kinds import ErrorCategory, ErrorSeverity
from torchmagic.guard.error_tracker import MOST_ERRORS, ErrorTracker
from torchmagic.guard.recovery_strategy import recovery_strategy


class ErrorHandlingDebuggingSystem:
    """Keeps the errors of a training, and hands them to ``recovery_strategy``.

    Args:
        error_tracker: Where errors are kept; a new one where None.
        max_errors: How many a new one keeps.

    Attributes:
        error_tracker: Where errors are kept.

    Example:
        >>> system = ErrorHandlingDebuggingSystem()
        >>> system.handle_error(RuntimeError("the loss is nan"), {"operation": "training_step"})
        True
        >>> system.error_tracker.counts
        {'numerical': 1}
    """

    def __init__(self, error_tracker: ErrorTracker | None = None, *, max_errors: int = MOST_ERRORS) -> None:
        self.error_tracker = ErrorTracker(max_errors) if error_tracker is None else error_tracker

    def handle_error(
        self,
        error: Exception,
        context: Mapping[str, Any] | None = None,
        *,
        severity: ErrorSeverity | str = ErrorSeverity.ERROR,
        category: ErrorCategory | str | None = None,
    ) -> bool:
        """Keep an error, and do what ``recovery_strategy`` does about it.

        Args:
            error: The exception.
            context: What else to know; ``model`` and ``optimizer`` have their gradients cleared where it needs that.
            severity: How grave it is.
            category: What it is about; told by the error itself where None.

        Returns:
            Whether the training may go on with the next batch.
        """
        self.error_tracker.track_error(error, severity, category, context)
        return recovery_strategy(error, context)
