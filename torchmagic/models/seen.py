"""This file is what a forward shows: notes about each module that ran, and the modules that run at the moment."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from torch import nn

from torchmagic.models.shapes import arguments_of, shapes_of

Deed = Callable[[], Any]


@dataclass(slots=True)
class Called:
    """What was seen of one module: counts of all its calls, shapes of the first."""

    count: int = 0
    inputs: str = ""
    output: str = ""
    flops: int = 0
    saved_bytes: int = 0
    seconds: float = 0.0


@dataclass(slots=True)
class Seen:
    """What one forward showed.

    Args:
        calls: By module of the twin.
        used: Keys of the storages that an operator read.
        uncounted: Operators of other libraries, whose operations nobody counts.
        flops: Of all operators.
        saved_bytes: Memory that autograd would keep, each storage once.
        output: Shapes of what came out.
        seconds: Of the whole forward.
        error: What the model raised.
        failed: The innermost module that was running then.
        failed_inputs: What it had been given.
        wrote: Whether it wrote into guarded memory, which was then put back.
    """

    calls: dict[nn.Module, Called] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)
    uncounted: set[str] = field(default_factory=set)
    flops: int = 0
    saved_bytes: int = 0
    output: str = ""
    seconds: float = 0.0
    error: Exception | None = None
    failed: nn.Module | None = None
    failed_inputs: str = ""
    wrote: bool = False


class Stack:
    """The modules that run at the moment, outermost first.

    Args:
        seen: Where to note what is seen.
        synchronise: Waits for a device that works on its own.
    """

    def __init__(self, seen: Seen, *, synchronise: Deed = lambda: None) -> None:
        self.seen, self.open = seen, list[tuple[nn.Module, str, float]]()
        self._synchronise = synchronise
        self._error: BaseException | None = None
        self._failed: tuple[nn.Module | None, str] = (None, "")

    def failed_with(self, error: Exception) -> tuple[nn.Module | None, str]:
        """Return the innermost module that an error came out of, and what it had been given."""
        if self._error is error:
            return self._failed
        return self.open[-1][:2] if self.open else (None, "")

    def enter(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Note that a module begins."""
        inputs = arguments_of(args, kwargs)
        called = self.seen.calls.setdefault(module, Called(inputs=inputs))
        called.count += 1
        self._synchronise()
        self.open.append((module, inputs, time.perf_counter()))

    def leave(self, module: nn.Module, _args: Any, _kwargs: Any, output: Any) -> None:
        """Note that a module is done, or has raised: then the output is None and the error under way."""
        self._synchronise()
        now = time.perf_counter()
        if not self.open or self.open[-1][0] is not module:
            return
        _, inputs, start = self.open.pop()
        error = sys.exc_info()[1] if output is None else None
        if error is not None and error is not self._error:
            self._error, self._failed = error, (module, inputs)
        called = self.seen.calls[module]
        called.seconds += now - start
        if called.count == 1:
            called.output = shapes_of(output)

    def add(self, *, flops: int = 0, saved: int = 0) -> None:
        """Credit all modules that run now."""
        self.seen.flops += flops
        self.seen.saved_bytes += saved
        for module in {each[0] for each in self.open}:
            self.seen.calls[module].flops += flops
            self.seen.calls[module].saved_bytes += saved
