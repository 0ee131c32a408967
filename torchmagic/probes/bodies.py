"""This file is the body: what a function of torch's does, replaced for a while in the function itself.

Programs keep torch's functions: as attributes of modules, in tables, as defaults, imported by name. Such a function is
watched wherever it is kept, and stays the one that it was: it compares, pickles and copies as torch's own.
"""

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType
from typing import Any

from torchmagic.probes.compiler import not_compiled
from torchmagic.probes.sites import RELAY


class Body:
    """What a function does.

    Args:
        function: Torch's, written in Python, that closes over nothing.
    """

    def __init__(self, function: FunctionType) -> None:
        self.function, self.own = function, function.__code__
        self.original = _copied(function)
        self._signature = inspect.signature(function)

    def hand_on(self, wrapper: Any) -> None:
        """Have the function call ``wrapper`` with what it is called with."""
        code = _code_through(wrapper, self.own)
        not_compiled(code)
        self.function.__code__ = code
        self.function.__signature__ = self._signature  # type: ignore[attr-defined] # inspect asks for it

    def let_go(self) -> None:
        """Have the function's signature be that of its body again."""
        vars(self.function).pop("__signature__", None)


# Kept for the life of the process, as the functions are: a compiler may hold on to a copy.
_bodies: dict[int, Body] = {}


def body_of(function: Any) -> Body | None:
    """Return the body of a function, the same each time; None for one whose body cannot be replaced."""
    known = _bodies.get(id(function))
    if known is not None and known.function is function:
        return known
    if not isinstance(function, FunctionType) or function.__closure__ or not _is_torchs(function):
        return None
    made = _bodies[id(function)] = Body(function)
    return made


@contextmanager
def bare(function: Any) -> Iterator[None]:
    """Have a function do what torch wrote for as long as this lasts."""
    body = _bodies.get(id(function))
    if body is None:
        yield
        return
    code = function.__code__
    function.__code__ = body.own
    try:
        yield
    finally:
        function.__code__ = code


def _is_torchs(function: FunctionType) -> bool:
    return str(function.__globals__.get("__name__")).split(".")[0] == "torch"


def _copied(function: FunctionType) -> FunctionType:
    copy = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__)
    for name in ("__kwdefaults__", "__qualname__", "__module__", "__doc__", "__annotations__"):
        setattr(copy, name, getattr(function, name))
    vars(copy).update(vars(function))
    return copy


def _through(*args: Any, **kwargs: Any) -> Any:
    to: Any = "to"
    return to(*args, **kwargs)


def _code_through(wrapper: Any, own: CodeType) -> CodeType:
    """Return code that calls a wrapper, and says that it stands where the function does: its source is found there."""
    code = _through.__code__
    return code.replace(
        co_consts=tuple(wrapper if value == "to" else value for value in code.co_consts),
        co_filename=own.co_filename,
        co_firstlineno=own.co_firstlineno,
        co_name=RELAY,
        co_qualname=RELAY,
    )
