"""This file tells failures apart: out of memory, what may pass by itself, and what would be the same each time."""

import errno
import re

import torch

from torchmagic.analyses.crash_kinds import kind_of
from torchmagic.records.crash import CrashKind

_PASSING = (ConnectionError, TimeoutError, InterruptedError, BlockingIOError)
_PASSING_NUMBERS = {errno.EAGAIN, errno.EBUSY, errno.EINTR, errno.ETIMEDOUT, errno.ENETUNREACH, errno.EHOSTUNREACH}
_PASSING_WORDS = re.compile(
    r"timed? ?out|temporar(?:y|ily)|transient|try again|unavailable|connection (?:reset|refused|closed)", re.IGNORECASE
)
# After these a CUDA context answers nothing any more.
_DEAD_DEVICE = re.compile(r"device-side assert|illegal memory access|misaligned address|unspecified launch failure")
# What libraries below torch say instead of "out of memory".
_FULL = re.compile(r"(?:CUBLAS|CUDNN|CUSOLVER|CUFFT)_(?:STATUS_)?ALLOC_FAILED")


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an allocation failed, on the host or on a device; an error of another kind that speaks of it is none."""
    if isinstance(error, MemoryError | torch.cuda.OutOfMemoryError):
        return True
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    said = str(error)
    return isinstance(error, RuntimeError) and (kind_of(said) is CrashKind.MEMORY or bool(_FULL.search(said)))


def is_transient(error: BaseException) -> bool:
    """Whether an error says of itself that it may pass: a connection, a time limit, a busy resource."""
    if isinstance(error, _PASSING):
        return True
    if isinstance(error, OSError):
        return error.errno in _PASSING_NUMBERS
    return type(error) is RuntimeError and bool(_PASSING_WORDS.search(str(error)))


def may_pass(error: BaseException) -> bool:
    """Whether it is worth while to run a forward again that raised this.

    A plain ``RuntimeError`` may pass unless its words are those of a mistake that would be the same again, such as a
    wrong shape or dtype, or of a device that is lost. Other classes of errors, such as ``TypeError``, may not.
    """
    if is_transient(error):
        return True
    said = str(error)
    return type(error) is RuntimeError and kind_of(said) is None and not _DEAD_DEVICE.search(said)
