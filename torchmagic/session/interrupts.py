"""This file is the user's signal handlers, such as that of an alarm, while torchmagic is at work.

They are called between any two instructions, and so within ours. What they raise is no failure of ours; and where we
have to come to an end, they wait for it.
"""

import signal
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

Handler = Callable[[int, FrameType | None], Any]


class Postponed:
    """Inside, signals wait; their handlers are called at the end.

    Args:
        interrupts: Whether the interrupt that ends what runs is raised then as well; else there is nothing more to end.
    """

    def __init__(self, *, interrupts: bool = True) -> None:
        self._interrupts = interrupts
        self._handlers: dict[int, Handler] = {}
        self._waiting: list[tuple[int, FrameType | None]] = []

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread():  # handlers are called there, and set there
            for number, handler in _handlers().items():
                self._handlers[number] = handler
                signal.signal(number, self._wait)

    def __exit__(self, *_: object) -> None:
        for number, handler in self._handlers.items():
            if signal.getsignal(number) == self._wait:
                signal.signal(number, handler)
        for number, frame in self._waiting:
            handler = self._handlers[number]
            if self._interrupts or handler is not signal.default_int_handler:
                handler(number, frame)

    def _wait(self, number: int, frame: FrameType | None) -> None:
        self._waiting.append((number, frame))


def pass_on(error: BaseException) -> None:
    """Raise an error again that a handler of the user's raised: it has nothing to do with what it came in between."""
    if _is_of_handler(error):
        raise error


def _is_of_handler(error: BaseException) -> bool:
    codes = {_code(handler) for handler in _handlers().values()} - {None}
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code in codes:
            return True
        traceback = traceback.tb_next
    return False


def _code(handler: Any) -> CodeType | None:
    function = getattr(handler, "func", handler)  # of a partial function
    return getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)


def _handlers() -> dict[int, Handler]:
    found = {number: signal.getsignal(number) for number in signal.valid_signals()}
    return {number: handler for number, handler in found.items() if callable(handler)}
