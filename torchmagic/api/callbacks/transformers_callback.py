"""This file is the callback of Hugging Face's Trainer: it watches each ``trainer.train``."""

import sys
from collections.abc import Callable
from functools import partial, update_wrapper
from types import FrameType
from typing import Any, Self

from torchmagic.api.callbacks.fit import Fit
from torchmagic.api.callbacks.joined import joined, needed
from torchmagic.session.run import Run


class TransformersCallback:
    """Watches each ``trainer.train`` from its beginning to its end, or to the exception that ends it.

    Of an exception the Trainer tells its callbacks nothing. One that is given to its constructor hears of it all the
    same; the run of one that is added later is closed when the next training begins, or the process ends.

    Args:
        **settings: The fields of ``Settings``, such as ``level="basic"``, ``name="lr sweep"`` or ``report="run.html"``.

    Raises:
        ImportError: If transformers is not installed.
        ValueError: If a setting is unknown or wrong.
    """

    def __new__(cls, **settings: Any) -> Self:
        """Make an instance that is a callback of the Trainer's as well."""
        made: Self = object.__new__(joined(cls, needed("TrainerCallback", "transformers")))
        return made

    def __init__(self, **settings: Any) -> None:
        self._fit = Fit(settings)

    def __reduce__(self) -> Any:
        return partial(TransformersCallback, **self._fit.settings), ()  # a copy watches trainings of its own

    @property
    def run(self) -> Run | None:
        """The run of the training that goes on, or of the last one."""
        return self._fit.run

    def on_init_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Have the trainer say when an exception ends its training."""
        trainer = _being_made(sys._getframe(1))  # noqa: SLF001 - callbacks are told everything but whose they are
        if trainer is not None:
            trainer.train = _Train(trainer.train, self._fit)

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Open the run."""
        self._fit.begin()

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Close the run."""
        self._fit.end()


class _Train:
    """A trainer's ``train``, which closes the run of one that an exception ends."""

    def __init__(self, train: Callable[..., Any], fit: Fit) -> None:
        self._train, self._fit = train, fit
        update_wrapper(self, train)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return self._train(*args, **kwargs)
        except BaseException as error:
            self._fit.end(error)
            raise


def _being_made(frame: FrameType | None) -> Any:
    """Return the trainer in whose constructor a frame stands; None where it stands in none."""
    kind = needed("Trainer", "transformers")
    while frame is not None:
        if frame.f_code.co_name == "__init__" and isinstance(made := frame.f_locals.get("self"), kind):
            return made
        frame = frame.f_back
    return None
