"""This file is the telling: how an event is handed to who listens for it, with a wall between them and the user."""

from collections.abc import Callable
from threading import get_ident
from typing import Any

import torch

from torchmagic.probes.compiler import never_compiled
from torchmagic.probes.events import EVENTS, WITHOUT_TENSORS
from torchmagic.probes.listeners import Listener, Listeners
from torchmagic.probes.sites import MEMO
from torchmagic.probes.sync_debug import SYNC_DEBUG
from torchmagic.probes.tracing import tracing_context
from torchmagic.probes.turn import Turn
from torchmagic.probes.user_modes import dispatch_modes, function_modes, plain_tensors, put_on, set_aside
from torchmagic.probes.user_warnings import warn_at_user
from torchmagic.probes.wrappers import now

is_grad_enabled, set_grad_enabled = torch.is_grad_enabled, torch._C._set_grad_enabled
tracing_state = torch._C._get_tracing_state


class Telling:
    """Hands events to listeners.

    They run with gradients and the user's modes off, unseen by the taps, so that a probe may call torch. What a
    listener raises goes to ``on_failure`` with its name and is never the user's, unless its type is in ``loud``.

    Args:
        on_failure: Told the listener's owner and the exception.
        loud: Exception types that a listener raises on purpose into the user's code.

    Attributes:
        listeners: Who listens.
        heard: The listeners of each event that hear it at present.
        ways: Of events that every step has, what is tried before they are told to listeners.
        turn: The thread that is watched.
        quiet: Whether nothing is told, as while something is.
        spent: Nanoseconds in listeners.
        began: What the clock said as the present event came.
        grad_enabled: Whether gradients were on then.
    """

    def __init__(self, *, on_failure: Callable[[object, Exception], None], loud: tuple[type[Exception], ...]) -> None:
        self.turn, self.listeners = Turn(), Listeners(EVENTS)
        self.heard, self.ways = self.listeners.awake, self.listeners.ways
        self.quiet, self.grad_enabled = True, True
        self.spent = self.began = 0
        self._on_failure, self._loud = on_failure, loud
        self._warnings: list[str] = []

    def on(self, event: str, listener: Listener) -> None:
        """Hand every event of this name to the listener."""
        self.listeners.add(event, listener)

    def rest(self, probe: object, *, until: int) -> None:
        """Hand no events to a probe, and do not flush it, before a step: what hears nothing costs nothing."""
        self.listeners.rest(probe, until=until)

    def is_busy(self) -> bool:
        """Whether listeners are at work; any thread may ask."""
        return self.quiet

    @never_compiled
    def emit(self, event: str, *arguments: Any) -> None:
        """Hand an event to its listeners."""
        listeners = self.listeners.awake[event]
        if not listeners or self.quiet or tracing_state() is not None or tracing_context() is not None:
            return  # what we computed would be in the trace; what a compiler computes with has no values
        if get_ident() != self.turn.ident and not self.turn.is_mine():
            return
        self.began, self.listeners.under_way = now(), listeners
        self.quiet = MEMO.open = True
        grad_enabled = self.grad_enabled = event not in WITHOUT_TENSORS and is_grad_enabled()
        aside = set_aside() if SYNC_DEBUG.mode or dispatch_modes() or function_modes() else None
        if grad_enabled:
            set_grad_enabled(False)
        try:
            with plain_tensors():
                for listener in listeners:
                    try:
                        listener(*arguments)
                    except self._loud:
                        raise
                    except Exception as error:  # noqa: BLE001 - the wall: a probe's failure is never the user's
                        self._on_failure(getattr(listener, "__self__", listener), error)
        finally:
            if grad_enabled:
                set_grad_enabled(True)
            if aside is not None:
                put_on(aside)
            self.quiet = MEMO.open = False
            MEMO.known = None
            self.spent += now() - self.began
        if self._warnings:
            self._warn_now()

    def _warn_now(self) -> None:
        while self._warnings:
            warn_at_user(self._warnings.pop(0))

    def warn(self, sentence: str) -> None:
        """Warn the user at the line that runs, once the event that is under way is over."""
        self._warnings.append(sentence)
