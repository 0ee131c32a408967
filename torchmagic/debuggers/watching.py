"""This file is the watch: a run opened around user code, and closed however that code ends."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torchmagic.debuggers.settings import Settings
from torchmagic.session.run import Run, Status
from torchmagic.session.session import Session, session


class Watch:
    """Puts probes, recorder and rules around code that someone else runs.

    Args:
        settings: What is measured, and how.
        namespace: The user's names, from which models and optimizers take theirs.
        source: Source of the cell.
        on_step: Called with the run after each optimizer step; what it raises is the user's only when it is a
            KeyboardInterrupt.
        session: Where the run is kept.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        namespace: Mapping[str, Any] | None = None,
        source: str = "",
        on_step: Callable[[Run], None] | None = None,
        session: Session = session,
    ) -> None:
        self.run = Run(name=settings.name, source=source, settings=settings.to_dict())
        self._session = session

    def start(self) -> Run:
        """Open the run: from here on torch is watched."""
        self._session.add(self.run)
        return self.run

    def stop(self, error: BaseException | None = None) -> Run:
        """Close the run: torch is left as it was found, findings are drawn; safe to call twice."""
        self.run.status = Status.OK if error is None else Status.INTERRUPTED if isinstance(error, KeyboardInterrupt) else Status.ERROR  # noqa: E501
        return self.run


@contextmanager
def watch(**settings: Any) -> Iterator[Run]:
    """Watch the code inside the ``with`` block."""
    watching = Watch(Settings(**settings))
    run = watching.start()
    try:
        yield run
    except BaseException as error:
        watching.stop(error)
        raise
    else:
        watching.stop()
