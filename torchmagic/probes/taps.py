"""This file is the taps: the one place that hooks torch, and turns what torch does into events."""

from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from threading import get_ident
from typing import Any
from weakref import WeakSet

from torch.optim import optimizer as optimizers

from torchmagic.probes import replay_wrappers
from torchmagic.probes.compile_wrappers import compiler_arrival
from torchmagic.probes.compiler import never_compiled
from torchmagic.probes.hooked import REPLACED, SEEN, Wrapper
from torchmagic.probes.patches import Patches
from torchmagic.probes.step_nesting import Nesting
from torchmagic.probes.sync_debug import SYNC_DEBUG
from torchmagic.probes.telling import Telling
from torchmagic.probes.wrappers import PhaseClock, frame_at, now

# The taps that hook torch now.
OPEN: WeakSet["Taps"] = WeakSet()


class Taps(Telling):
    """Hooks torch while open, and hands events to listeners, as ``Telling`` has it.

    Args:
        on_failure: Told the listener's owner and the exception.
        loud: Exception types that a listener raises on purpose into the user's code.
    """

    def __init__(
        self, *, on_failure: Callable[[object, Exception], None], loud: tuple[type[Exception], ...] = ()
    ) -> None:
        super().__init__(on_failure=on_failure, loud=loud)
        self.leaves = self.follows = self._sees_modules = False
        self.called: set[int] | None = None
        self.ranges: dict[int, Any] | None = None  # of modules, by identity, for ``see("modules")``
        self.ended_by: type[BaseException] | None = None  # what ended the run, once it is being closed
        self.communicating = self.alone = self.lost = False  # the last: a device, so that nothing more is heard
        self.carry: Callable[[Any, int, Any], Any] | None = None  # has what is started in other processes watched
        self.clock, self.nesting = PhaseClock(), Nesting()
        self.turn.partings.append(self.nesting.part)
        self.closed_at = 0  # what the clock said as this was closed; 0 before
        self.stack: list[Any] = []
        self.scheduling = False
        self._patches = Patches()
        self._compiler = compiler_arrival(partial(self._replace, self._patches))
        self._seen = {what: Patches() for what in SEEN}
        self._wanted: set[str] = set()
        self._open = False
        self._handles: list[Any] = []
        self.anomaly_detection = replay_wrappers.Detection.OFF
        self._modes = ExitStack()
        self.depth = self._step_began = self._phases_before = 0
        self.training, self.weighted = True, False  # the newest call; whether the newest backward was given gradients
        self.capturing = False  # whether nothing is told because a graph is captured

    @property
    def sees_leaves(self) -> bool:
        """Whether the innermost modules make events, and relu as a function, where it is seen."""
        return self.leaves

    @sees_leaves.setter
    def sees_leaves(self, seen: bool) -> None:
        if seen is not self.leaves:
            self.leaves = seen
            self._follow()

    @property
    def sees_modules(self) -> bool:
        """Whether ``stack`` says in which modules the code stands."""
        return self._sees_modules

    @sees_modules.setter
    def sees_modules(self, seen: bool) -> None:
        self._sees_modules = seen
        self._follow()

    def collect_calls(self, called: set[int] | None) -> None:
        """Put the identity of every module that runs inside another into a set, until this is called with None."""
        self.called = called
        self._follow()

    def _follow(self) -> None:
        self.follows = self.leaves or self._sees_modules or self.called is not None

    def open(self) -> None:
        """Hook torch."""
        for owner, name, wrap in REPLACED:
            self._replace(self._patches, owner, name, wrap)
        self._compiler.wait()
        SYNC_DEBUG.ask()
        self._modes.enter_context(replay_wrappers.anomaly_detection(self.anomaly_detection))
        self._handles = [
            optimizers.register_optimizer_step_pre_hook(self._before_step),
            optimizers.register_optimizer_step_post_hook(self._after_step),
        ]
        self._open = True
        self.turn.open()
        OPEN.add(self)
        for what in self._wanted:
            self._install(what)
        self.quiet = False

    def detect_anomalies(self, how: replay_wrappers.Detection) -> None:
        """Have torch's own anomaly detection so from the opening on, or, while open, from here on."""
        if how is not self.anomaly_detection:
            self.anomaly_detection = how
            if self._open:
                self._modes.close()
                self._modes.enter_context(replay_wrappers.anomaly_detection(how))

    def close(self) -> None:
        """Leave torch as it was found; safe to call twice."""
        self.quiet, self.closed_at = True, self.closed_at or now()
        self._modes.close()
        self._compiler.leave()
        while self._handles:
            self._handles.pop().remove()
        self._open = False
        self.turn.close()
        OPEN.discard(self)
        for patches in self._seen.values():
            patches.undo()
        self._patches.undo()

    def let_go(self) -> None:
        """Hold nothing of the run any more: torch keeps some wrappers in tables of its own, and they hold the taps.

        The user is warned of what is left to say.
        """
        with suppress(Warning):  # where these are errors, the end of a run is no place for one
            self._warn_now()
        self.listeners.clear()
        self.turn.partings.clear()
        self.ranges, self.called, self.carry, self.stack = None, None, None, []
        self._on_failure = lambda *_: None  # nobody is left to be told

    def see(self, what: str, *, seen: bool) -> None:
        """Switch a wrapper that is too dear to be on all the time: one of ``SEEN``."""
        if not seen:
            self._wanted.discard(what)
            self._seen[what].undo()
        elif what not in self._wanted:
            self._wanted.add(what)
            if self._open:
                self._install(what)

    def _install(self, what: str) -> None:
        wrap, places = SEEN[what]
        for owner, name in places:
            self._replace(self._seen[what], owner, name, wrap)

    def _replace(self, patches: Patches, owner: Any, name: str, wrap: Wrapper) -> None:
        patches.replace(owner, name, lambda original: wrap(self, original))

    @never_compiled
    def _before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if self.quiet or not self.turn.trains(self.is_busy) or not self.nesting.begins(optimizer):
            return
        if (way := self.ways["step_begin"]) is None or not way(optimizer, frame_at(1)):
            self.emit("step_begin", optimizer, frame_at(1))
        clock = self.clock
        self._phases_before = clock.forward + clock.backward + clock.data
        self._step_began = now() - self.spent

    @never_compiled
    def _after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if get_ident() != self.turn.ident or not self.nesting.ends(optimizer):
            return
        took, clock = now() - self.spent - self._step_began, self.clock
        within = clock.forward + clock.backward + clock.data - self._phases_before  # of a closure
        clock.optimizer += max(0, took - within)
        if self.quiet or (way := self.ways["step_end"]) is None or not way(optimizer, took):
            self.emit("step_end", optimizer, took)
