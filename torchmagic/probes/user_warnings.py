"""This file is a warning as the user's own line would give it."""

import sys
import warnings
from types import FrameType

from torchmagic.probes.sites import is_users


def warn_at_user(sentence: str) -> None:
    """Warn as the user's own line would: under its name, and once if it comes again."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not is_users(frame):
        frame = frame.f_back
    if frame is None:
        warnings.warn(sentence, RuntimeWarning, stacklevel=3)
        return
    scope = frame.f_globals
    warnings.warn_explicit(
        sentence,
        RuntimeWarning,
        frame.f_code.co_filename,
        frame.f_lineno,
        module=scope.get("__name__", "__main__"),
        registry=scope.setdefault("__warningregistry__", {}),
    )
