"""This file is how grave an error is, and what it is about."""

import logging
import re
from enum import StrEnum

from torchmagic.analyses.crash_kinds import kind_of
from torchmagic.guard.failures import is_out_of_memory
from torchmagic.records.crash import CrashKind

_DATA = (CrashKind.LABEL, CrashKind.INDEX)
_GRADIENT = (CrashKind.BACKWARD_TWICE, CrashKind.INPLACE, CrashKind.NO_GRAD)
_NUMBERS = re.compile(r"\bnan\b|non-?finite|not finite|\binf(?:inite|inity)?\b|overflow", re.IGNORECASE)


class ErrorSeverity(StrEnum):
    """How grave an error is; the names are those of the levels of standard logging."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
    CRITICAL = "critical"

    @property
    def level(self) -> int:
        """The level of standard logging, such as 40 of ``ERROR``."""
        return logging.getLevelNamesMapping()[self.name]


class ErrorCategory(StrEnum):
    """What an error is about."""

    MODEL = "model"
    DATA = "data"
    INPUT = "input"
    TRAINING = "training"
    GRADIENT = "gradient"
    NUMERICAL = "numerical"
    MEMORY = "memory"
    DEVICE = "device"
    NETWORK = "network"
    SYSTEM = "system"
    UNKNOWN = "unknown"


def category_of(error: BaseException) -> ErrorCategory:
    """Return what an error is about, by its class and by what torch says in such cases; ``UNKNOWN`` otherwise."""
    if is_out_of_memory(error):
        return ErrorCategory.MEMORY
    if isinstance(error, ConnectionError | TimeoutError):
        return ErrorCategory.NETWORK
    if isinstance(error, OSError):
        return ErrorCategory.SYSTEM
    kind = None if isinstance(error, ArithmeticError) else kind_of(str(error))
    if kind is not None:
        return _category(kind)
    is_numerical = isinstance(error, ArithmeticError) or _NUMBERS.search(str(error))
    return ErrorCategory.NUMERICAL if is_numerical else ErrorCategory.UNKNOWN


def _category(kind: CrashKind) -> ErrorCategory:
    if kind in _DATA:
        return ErrorCategory.DATA
    if kind in _GRADIENT:
        return ErrorCategory.GRADIENT
    return ErrorCategory.DEVICE if kind is CrashKind.DEVICE else ErrorCategory.MODEL
