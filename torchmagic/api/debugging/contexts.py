"""This file is the contexts of a debugger: the outermost one is a watched run, those inside belong to it."""

import logging
import threading
import weakref
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torchmagic.api.debugging.config import DebugConfig
from torchmagic.api.debugging.context_watch import How, settings_of, watched_by
from torchmagic.api.debugging.history import MOST_KEPT, MOST_NAMES, History
from torchmagic.api.debugging.info import DebugInfo
from torchmagic.api.debugging.kept_runs import MOST_RUNS, KeptRuns, kept_runs
from torchmagic.api.debugging.leak_words import is_leak, told
from torchmagic.api.debugging.meter import Meter, process_memory
from torchmagic.api.debugging.sight import Sight
from torchmagic.api.debugging.telling import Telling
from torchmagic.debuggers.watching import Watch
from torchmagic.models.leaks import MemoryTrend, MemoryWindow
from torchmagic.session.run import Run

# Judging whether memory leaks takes a millisecond or two.
_CONTEXTS_BETWEEN_TRENDS = 16
# Two threads that open a context at the same time share one run.
_opening = threading.Lock()


class Contexts:
    """Opens the contexts of one debugger, and keeps what is known of each.

    Args:
        config: What is watched.
        logger: Is told what is not sound.
        training_logger: Is told each operation; None for none.
        saves: Whether runs are written to the store.
        kept: Keeps the session small.

    Attributes:
        history: The operations.
        telling: Whom they are told to, and which findings were.
        taken: What was taken down of memory, the newest last.
        timed: What was taken down of time, the newest last.
    """

    def __init__(
        self,
        config: DebugConfig,
        *,
        logger: logging.Logger,
        training_logger: Any = None,
        saves: bool = True,
        kept: KeptRuns = kept_runs,
    ) -> None:
        self.config, self.logger, self.history = config, logger, History()
        self.telling = Telling(config, logger=logger, training_logger=training_logger)
        self.taken: deque[dict[str, Any]] = deque(maxlen=MOST_KEPT)
        self.timed: deque[dict[str, Any]] = deque(maxlen=MOST_KEPT)
        self._saves, self._kept, self._memory = saves, kept, MemoryWindow()
        self._open: dict[int, tuple[DebugInfo, Run | None]] = {}  # by identity, the innermost last
        self._runs: deque[weakref.ref[Run]] = deque(maxlen=MOST_RUNS)
        self._numbers: Counter[str] = Counter()
        self._samples = 0
        self._leaks = False

    @contextmanager
    def open(
        self, operation: str, model_name: str = "unknown", epoch: int = 0, batch: int = 0, *, how: How = How.WHOLE
    ) -> Iterator[DebugInfo]:
        """Watch what is inside the ``with`` block, unless a run that goes on watches it already.

        Args:
            operation: What it is called; the run has this name.
            model_name: The model's name or class.
            epoch: Number of the epoch.
            batch: Number of the batch.
            how: How closely it is watched.

        Yields:
            What is known of the operation, while it goes on and afterwards.
        """
        info = DebugInfo(
            mode=self.config.mode,
            level=self.config.level,
            operation=operation,
            model_name=model_name,
            epoch=epoch,
            batch=batch,
        )
        watching: Watch | None = None
        sight: Sight | None = None
        error: BaseException | None = None
        try:
            with _opening:
                watching, run = self._watched_by(operation, how)
                if watching is not None:
                    run = watching.start()
            sight = None if run is None else Sight(run)
            self._open[id(info)] = info, run
            info.measured = Meter()
            yield info
        except BaseException as raised:
            error = raised
            raise
        finally:
            info.close()
            self._open.pop(id(info), None)
            if watching is not None:
                watching.stop(error)
            try:
                self._close(info, sight, error, own=watching)
            except Exception as failure:  # noqa: BLE001 - the wall: what we fail to tell is never the user's failure
                self.logger.warning("%s could not be told: %s: %s", operation, type(failure).__name__, failure)

    @contextmanager
    def current(self, operation: str, model_name: str = "unknown") -> Iterator[DebugInfo]:
        """Yield the innermost context that is open; where none is, one of its own, which is not watched."""
        if (innermost := self._innermost) is not None:
            yield innermost[0]
        else:
            with self.open(operation, model_name, how=How.BARE) as info:
                yield info

    def opened(self, operation: str) -> DebugInfo | None:
        """Return the innermost context of a name that is open, or None."""
        return next((info for info, _ in reversed(tuple(self._open.values())) if info.operation == operation), None)

    @property
    def runs(self) -> list[Run]:
        """The newest runs of the contexts that somebody still holds, such as the session."""
        return [run for each in self._runs if (run := each()) is not None]

    def number(self, operation: str) -> int:
        """Return how many paced contexts of a name there were before the newest one."""
        return max(0, self._numbers[operation] - 1)

    def sample(self) -> MemoryTrend:
        """Take in what the process has in memory now, and return the trend."""
        self._take_in()
        trend = self._memory.trend()
        before, self._leaks = self._leaks, is_leak(trend)
        if self._leaks and not before:
            self.logger.warning("%s", told(trend))
        return trend

    def clear(self) -> None:
        """Forget all operations."""
        for each in (self.history, self.telling, self.taken, self.timed, self._runs, self._numbers, self._memory):
            each.clear()
        self._leaks = False

    @property
    def _innermost(self) -> tuple[DebugInfo, Run | None] | None:
        opened = tuple(self._open.values())
        return opened[-1] if opened else None

    def _watched_by(self, operation: str, how: How) -> tuple[Watch | None, Run | None]:
        if how is How.BARE:
            return None, None
        number = self._count(operation) if how is How.PACED else 0
        if how is How.PACED and (innermost := self._innermost) is not None:  # a part of what is open, at its pace
            return None, innermost[1]
        saves = self._saves and self._kept.saves
        return watched_by(settings_of(self.config, operation, how=how, number=number, saves=saves))

    def _count(self, operation: str) -> int:
        if len(self._numbers) >= MOST_NAMES and operation not in self._numbers:
            self._numbers.clear()
        self._numbers[operation] += 1
        return self._numbers[operation] - 1

    def _close(self, info: DebugInfo, sight: Sight | None, error: BaseException | None, *, own: Watch | None) -> None:
        config = self.config
        info.anomaly_detected |= isinstance(error, Exception) or bool(info.gradient_anomalies)
        info.performance_issue_detected |= self.history.is_slow(info.operation, info.execution_time)
        info.memory_leak_detected |= self._leaks
        if sight is not None:
            sight.tell(info)
        if own is not None and sight is not None:
            info.details = sight.details(
                gradients=config.log_gradients, weights=config.log_weights, activations=config.log_activations
            )
            own.run.settings["mode"] = config.mode.value
            self._runs.append(weakref.ref(own.run))
            self._kept.add(own.run, wanted=self._saves, written=own.settings.save)
            self._sample_now_and_then()
        self.history.add(info)
        self.telling.tell(info, error, is_outermost=own is not None)

    def _sample_now_and_then(self) -> None:
        if self.history.totals.number % _CONTEXTS_BETWEEN_TRENDS == 0:
            self.sample()
        else:
            self._take_in()

    def _take_in(self) -> None:
        self._samples += 1
        self._memory.add(self._samples, process_memory())
