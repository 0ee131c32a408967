"""This file is Lightning's callback: it watches each ``trainer.fit``."""

from functools import partial
from typing import Any, Self

from torchmagic.api.callbacks.fit import Fit
from torchmagic.api.callbacks.joined import joined, needed
from torchmagic.session.run import Run


class LightningCallback:
    """Watches each ``trainer.fit`` from its setup to its teardown, or to the exception that ends it.

    It is a ``Callback`` of ``lightning``, or of ``pytorch_lightning`` where only that one is loaded.

    Args:
        **settings: The fields of ``Settings``, such as ``level="basic"``, ``name="lr sweep"`` or ``report="run.html"``.

    Raises:
        ImportError: If Lightning is not installed.
        ValueError: If a setting is unknown or wrong.
    """

    def __new__(cls, **settings: Any) -> Self:
        """Make an instance that is a callback of Lightning's as well."""
        made: Self = object.__new__(joined(cls, needed("Callback", "lightning.pytorch", "pytorch_lightning")))
        return made

    def __init__(self, **settings: Any) -> None:
        self._fit = Fit(settings)

    def __reduce__(self) -> Any:
        return partial(LightningCallback, **self._fit.settings), ()  # a copy watches trainings of its own

    @property
    def run(self) -> Run | None:
        """The run of the fit that goes on, or of the last one."""
        return self._fit.run

    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
        """Open the run, before optimizers are built."""
        if stage == "fit":
            self._fit.begin()

    def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
        """Close the run."""
        if stage == "fit":
            self._fit.end()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        """Close the run with what ended it."""
        self._fit.end(exception)
