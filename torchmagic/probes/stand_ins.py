"""This file is what stands, while a run is open, for a function of torch's that is written in C."""

import copy
from collections.abc import Callable
from typing import Any


class StandIn:
    """Calls its ``wrapper``; to classes, pickle and copy it is what the function that it stands for is.

    As an attribute of a class it is not bound, as no function written in C is; pickled or copied it is torch's own.

    Args:
        original: Torch's function, called where there is no ``wrapper``.
    """

    def __init__(self, original: Any) -> None:
        self.original = original
        self.wrapper: Callable[..., Any] = original
        for name in ("__name__", "__qualname__", "__doc__", "__module__"):
            setattr(self, name, getattr(original, name, None))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the wrapper."""
        return self.wrapper(*args, **kwargs)

    def __reduce__(self) -> tuple[Any, ...]:
        """Be torch's own function where it is pickled or copied: a copy of that is the function itself."""
        return copy.copy, (self.original,)

    def __repr__(self) -> str:
        return repr(self.original)
