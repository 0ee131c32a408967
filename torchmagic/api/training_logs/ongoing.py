"""This file is what a training has open while it goes on: a watched run, a progress bar, an eye on its task."""

import asyncio
import os
from collections.abc import Callable, Mapping
from typing import Any

from torchmagic.api.training_logs.progress_bar import ProgressBar
from torchmagic.api.training_logs.task_failure import on_failure_of_this_task
from torchmagic.api.training_logs.writing import Writing
from torchmagic.debuggers.followed import fail, follow
from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.switches import switches
from torchmagic.debuggers.watching import Watch
from torchmagic.session.run import Run


class Ongoing:
    """Opens things for a training, and closes them once; it knows no logger, so that a logger can be let go.

    Args:
        writing: Moves the bar.
    """

    def __init__(self, writing: Writing) -> None:
        self._writing = writing
        self._process = os.getpid()
        self._watch: Watch | None = None
        self._bar: ProgressBar | None = None
        self._leave_task: Callable[[], object] | None = None
        self._watched: tuple[Run, Settings] | None = None

    def open_watch(self, settings: Mapping[str, Any], namespace: Mapping[str, Any]) -> Run:
        """Watch torch from here on.

        Args:
            settings: Fields of ``Settings``; what was switched by hand stands under them.
            namespace: The user's names, from which models and optimizers take theirs.
        """
        self._watch = Watch(Settings.from_dict({**switches.values(), **settings}), namespace=namespace)
        return self._watch.start()

    def open_bar(self, label: str, total: int | None) -> None:
        """Draw a bar."""
        self._bar = ProgressBar(label, total)
        self._writing.add_handler(self._bar)

    def follow_task(self, tell: Callable[[BaseException], None]) -> None:
        """Have a function told when the present task fails."""
        self._leave_task = on_failure_of_this_task(tell)

    def close_watch(self, error: BaseException | None = None) -> None:
        """Watch no more, unless this process was forked off the one that does."""
        watch, self._watch = self._watch, None
        if watch is not None and os.getpid() == self._process:
            # A cancelled task was interrupted; it did not go wrong.
            run = watch.stop(KeyboardInterrupt() if isinstance(error, asyncio.CancelledError) else error)
            follow(run, watch.settings)
            self._watched = run, watch.settings

    def fail(self) -> None:
        """Raise the findings that are to fail the training, once it is no longer watched.

        Raises:
            FindingsError: If there are some.
        """
        if self._watched is not None:
            fail(*self._watched)

    def close(self, error: BaseException | None = None) -> None:
        """Close what is open; safe to call twice."""
        self.close_watch(error)
        if self._leave_task is not None:
            self._leave_task()
        if self._bar is not None:
            self._writing.remove_handler(self._bar)
            self._bar.close()
        self._leave_task = self._bar = None
