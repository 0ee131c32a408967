"""This file is the log of a training that runs in an asyncio event loop, which it never blocks."""

import asyncio
import math
import sys
import weakref
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self, Unpack

from torchmagic.api.training_logs.channel import LogOptions
from torchmagic.api.training_logs.checked_events import CheckedEvents, no_checks
from torchmagic.api.training_logs.later import Later, number_in
from torchmagic.api.training_logs.log_level import LogLevel
from torchmagic.api.training_logs.ongoing import Ongoing
from torchmagic.api.training_logs.progress_bar import PROGRESS, is_wanted
from torchmagic.api.training_logs.standing import Standing
from torchmagic.api.training_logs.training_phase import TrainingPhase
from torchmagic.debuggers.settings import Settings
from torchmagic.records.finding import Finding
from torchmagic.session.run import Run

TOLD_OF_A_FINDING = ("rule", "line", "parameter", "module", "step", "fix")


class AsyncTrainingLogger(CheckedEvents):
    """Logs and checks a training without blocking the event loop it runs in.

    What takes long happens in threads: the statistics of tensors and gradients, and all writing. ``with`` and
    ``async with`` end the training and close the log; a training whose task fails, or whose logger is let go, is
    ended as well.

    Args:
        user_id: Who trains; it is in every line of the file.
        model_name: What is trained; it becomes a part of the file's name, and no path.
        enable_autograd_debug: Whether ``start_training`` opens a watched run, as ``torchmagic.watch`` does.
        progress: Whether a bar is drawn; None draws it in notebooks and on terminals.
        debug_settings: Fields of ``Settings`` for the watched run, such as ``{"level": "basic"}``.
        **options: ``log_dir``, ``terminal_level``, ``max_bytes``, ``backups``, ``handlers``; see ``LogOptions``.

    Raises:
        ValueError: If an option or a setting is wrong; one line.
    """

    def __init__(
        self,
        user_id: object = None,
        model_name: str = "",
        *,
        enable_autograd_debug: bool = False,
        progress: bool | None = None,
        debug_settings: Mapping[str, Any] | None = None,
        **options: Unpack[LogOptions],
    ) -> None:
        self.user_id, self.model_name = user_id, str(model_name)
        self.enable_autograd_debug = enable_autograd_debug
        self._debug_settings = {"name": self.model_name, **(debug_settings or {})}
        Settings.from_dict(self._debug_settings)  # what is wrong is told here, not when the training starts
        about = {"model": self.model_name} | ({} if user_id is None else {"user_id": user_id})
        super().__init__(self.model_name, about, **options)
        self._progress = progress
        self._standing = Standing()
        self._run: Run | None = None
        self._ongoing: Ongoing | None = None
        self._release: Callable[[], object] = lambda: None

    @property
    def is_training(self) -> bool:
        """Whether a training was started and not stopped."""
        return self._ongoing is not None

    @property
    def run(self) -> Run | None:
        """The watched run of the newest training; None without ``enable_autograd_debug``."""
        return self._run

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is wrong with the training, as far as it was watched; whole once it is stopped."""
        return self._run.findings if self._run is not None else ()

    def start_training(self, total_epochs: int | None = None, total_steps: int | None = None, **fields: Any) -> None:
        """Begin a training; one that was begun and not stopped is stopped.

        With ``enable_autograd_debug`` torch is watched from here on, which takes some 20 ms, and in a process that
        never compiled some seconds once.

        Args:
            total_epochs: Epochs that it will take.
            total_steps: Steps that it will take, over all epochs.
            **fields: What belongs to it, such as settings to be logged.

        Raises:
            ValueError: If a number is no whole number from 1 on; one line.
            RuntimeError: If the log is closed; one line.
        """
        if not self._channel.is_open:
            raise RuntimeError(f"{self.path.name} is closed; make a new logger for another training")
        standing = Standing(_whole("total_epochs", total_epochs), _whole("total_steps", total_steps))
        self.stop()
        ongoing = Ongoing(self._channel.writing)
        self._release = release = weakref.finalize(self, ongoing.close)
        release.atexit = False  # the watch closes itself when the process ends
        try:
            if self.enable_autograd_debug:
                names = sys._getframe(1).f_globals  # noqa: SLF001 - the caller's names
                self._run = ongoing.open_watch(self._debug_settings, names)
            ongoing.follow_task(_stopper(weakref.ref(self), weakref.ref(ongoing)))
            if is_wanted(self._progress):
                ongoing.open_bar(self.model_name, standing.total_steps)
        except BaseException:
            release()
            raise
        self._standing, self._ongoing = standing, ongoing
        self._checks = no_checks()
        told = {"total_epochs": total_epochs, "total_steps": total_steps, **fields}
        run = {"run": self._run.id} if self._run is not None else {}
        self._tell(LogLevel.INFO, "training_start", "training begins", fields={**_known(told), **run})

    def stop(self, error: BaseException | None = None) -> None:
        """End the training: torch is left as it was found, findings are logged, all is written; safe to call twice.

        Args:
            error: The exception that ended it.

        Raises:
            FindingsError: If it ended well and has findings that ``fail_on`` of the settings names; all is done then.
        """
        with self._counting:
            ongoing, self._ongoing = self._ongoing, None
        if ongoing is None:
            return
        try:
            ongoing.close_watch(error)
            for finding in self.findings:
                told = _known({name: getattr(finding, name) for name in TOLD_OF_A_FINDING})
                self._tell(LogLevel(finding.severity.value), "finding", finding.title, fields=told)
            self._tell(LogLevel.INFO, "training_end", self._standing.said(), fields=_known(self.summary()))
            self.flush()
        finally:
            self._release()
        if error is None:
            ongoing.fail()

    def end_training(self, error: BaseException | None = None) -> None:
        """End the training; the same as ``stop``."""
        self.stop(error)

    async def stop_async(self, error: BaseException | None = None) -> None:
        """End the training without blocking the event loop; see ``stop``."""
        await asyncio.to_thread(self.stop, error)

    async def update_progress_async(
        self,
        epoch: int | None = None,
        step: int | None = None,
        loss: Any = None,
        learning_rate: Any = None,
        **metrics: Any,
    ) -> None:
        """Say where the training stands: the bar moves, and the file gets an event ``progress``.

        Args:
            epoch: Number of the epoch.
            step: Number of the step, from 0, in its epoch or over all epochs.
            loss: Its loss, a number or a tensor of one value.
            learning_rate: The learning rate, the same.
            **metrics: Whatever else is to be seen; the first two numbers stand beside the bar.
        """
        value, rate = await _number(loss), await _number(learning_rate)
        with self._counting:
            position = self._standing.move(_count(epoch), _count(step), value)
        fields = {"epoch": epoch, "step": step, "loss": value, "learning_rate": rate}
        level = LogLevel.WARNING if value is not None and not math.isfinite(value) else LogLevel.DEBUG
        told = {**_known(fields), **metrics, "position": position}
        self._tell(level, PROGRESS, f"step {position}", phase=TrainingPhase.TRAINING, fields=told)
        await asyncio.sleep(0)

    def summary(self) -> dict[str, Any]:
        """Return where the training stands and what happened: steps, losses, checks, warnings, errors, seconds."""
        with self._counting:
            counts = {"warnings": self._counts[LogLevel.WARNING], "errors": self._counts[LogLevel.ERROR]}
            return {**self._standing.to_dict(), **self._checks, **counts, "findings": len(self.findings)}

    def close(self) -> None:
        """End the training and close the log; safe to call twice."""
        try:
            self.stop()
        finally:
            super().close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is not None:
            self._fail(error)
        super().__exit__(kind, error, traceback)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.__exit__, kind, error, traceback)

    def _fail(self, error: BaseException) -> None:
        """Log what ends the training, unless the user did, and end it."""
        if not self._is_told(error):
            self.log_error(error, TrainingPhase.TRAINING)
        self.stop(error)


def _stopper(logger: "weakref.ref[AsyncTrainingLogger]", ongoing: "weakref.ref[Ongoing]") -> Any:
    """Return a function that ends this training, and holds neither it nor its logger."""

    def stop(error: BaseException) -> None:
        there = logger()
        if there is not None and there._ongoing is not None and there._ongoing is ongoing():  # noqa: SLF001 - a part of it
            there._fail(error)  # noqa: SLF001 - likewise

    return stop


async def _number(value: Any) -> float | None:
    """Return the number that a value is; an accelerator is waited for in a thread."""
    found = number_in(value)
    return await asyncio.to_thread(found.read) if isinstance(found, Later) else found


def _count(value: Any) -> int | None:
    """Return the whole number that a value is; None for anything else."""
    found = number_in(value)
    return int(found) if isinstance(found, float) and math.isfinite(found) else None


def _known(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _whole(name: str, value: Any) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 1):
        return value
    raise ValueError(f"{name} must be a whole number from 1 on, or None, {value!r} came")
