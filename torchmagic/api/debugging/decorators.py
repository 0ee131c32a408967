"""This file is a debugger without ceremony: a ``with`` block, and a decorator."""

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar, overload

from torchmagic.api.debugging.debugger import PyTorchDebugger
from torchmagic.api.debugging.made_of import Given
from torchmagic.api.debugging.modes import DebugMode

P = ParamSpec("P")
R = TypeVar("R")


@contextmanager
def debug_context(
    level: Given = None, operation: str = "debug_context", *, debug_mode: DebugMode | str | None = None
) -> Iterator[PyTorchDebugger]:
    """Watch a ``with`` block by a debugger of its own.

    Args:
        level: How closely: a ``DebugLevel``, a ``DebugConfig``, or None for the environment variables.
        operation: What the run is called.
        debug_mode: The mode; outweighs that of a configuration.

    Yields:
        The ``PyTorchDebugger``.

    Raises:
        ValueError: If the level or the mode is wrong; one line.
    """
    debugger = PyTorchDebugger(level, debug_mode=debug_mode)
    with debugger.debug_context(operation):
        yield debugger


@overload
def debug_operation(function: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def debug_operation(
    function: None = None,
    /,
    *,
    debug_mode: DebugMode | str | None = ...,
    config: Given = ...,
    operation: str = ...,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...


def debug_operation(
    function: Callable[..., Any] | None = None,
    /,
    *,
    debug_mode: DebugMode | str | None = None,
    config: Given = None,
    operation: str = "",
) -> Any:
    """Watch each call of a function, as a context of one debugger.

    The debugger is ``function.debugger``: its history tells of all calls. Arguments, result and exceptions are the
    function's own.

    Args:
        function: The function, where the decorator is written without brackets.
        debug_mode: The mode; torch's own ``detect_anomaly`` is then on wherever anomalies are looked for.
        config: A ``DebugConfig`` or a ``DebugLevel`` instead of or beside the mode.
        operation: What a call is called; the function's name unless given.

    Raises:
        TypeError: If something that is not a function is decorated; one line.
        ValueError: If the mode or the configuration is wrong; one line.
    """
    debugger = PyTorchDebugger(config, debug_mode=debug_mode)
    if function is None:
        return functools.partial(_watched, debugger=debugger, operation=operation)
    return _watched(function, debugger=debugger, operation=operation)


def _watched(function: Callable[..., Any], *, debugger: PyTorchDebugger, operation: str) -> Callable[..., Any]:
    if not callable(function):
        raise TypeError(f"debug_operation decorates a function, {function!r} came; name a mode as debug_mode=")
    name = operation or getattr(function, "__name__", type(function).__name__)

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        with debugger.debug_context(name):
            return function(*args, **kwargs)

    @functools.wraps(function)
    async def run_async(*args: Any, **kwargs: Any) -> Any:
        with debugger.debug_context(name):
            return await function(*args, **kwargs)

    watched = run_async if inspect.iscoroutinefunction(function) else run
    vars(watched)["debugger"] = debugger
    return watched
