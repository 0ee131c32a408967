"""This file is a fit: the trainings of one trainer that a callback watches, one run each."""

import sys
from collections.abc import Mapping
from typing import Any

from torchmagic.debuggers.followed import fail, follow
from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.switches import switches
from torchmagic.debuggers.watching import Watch
from torchmagic.probes.sites import user_frame
from torchmagic.session.run import Run


class Fit:
    """Opens a watched run where a training begins, and closes it however that ends; safe to do twice.

    Args:
        settings: The fields of ``Settings``.

    Raises:
        ValueError: If a setting is unknown or wrong.

    Attributes:
        run: The run of the training that goes on, or of the last one; None before the first.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        Settings.from_dict(settings)  # said where it is written, and not when the training begins
        self.settings = dict(settings)
        self.run: Run | None = None
        self._watching: Watch | None = None

    def begin(self) -> None:
        """Open a run; one that is still open belongs to a training that was given up."""
        self.end(KeyboardInterrupt())
        frame = user_frame(sys._getframe(1))  # noqa: SLF001 - whoever called the trainer has the names
        settings = Settings.from_dict({**switches.values(), **self.settings})
        self._watching = Watch(settings, namespace=frame.f_globals if frame is not None else {})
        self.run = self._watching.start()

    def end(self, error: BaseException | None = None) -> None:
        """Close the run, if one is open, and write its report where one was asked for.

        Args:
            error: What ended the training.

        Raises:
            FindingsError: If the training ended well and has findings that ``fail_on`` names.
        """
        watching, self._watching = self._watching, None
        if watching is None:
            return
        run = watching.stop(error)
        follow(run, watching.settings)
        if error is None:
            fail(run, watching.settings)
