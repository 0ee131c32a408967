"""This file carries a watch into processes that a watched run starts: each of them watches what it is given to do."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple, Protocol

from torchmagic.debuggers.open_watches import leave_inherited
from torchmagic.debuggers.settings import PanelMode, Settings
from torchmagic.probes.sites import is_users_file
from torchmagic.session.session import session


class Origin(NamedTuple):
    """What a process was started for by a watched run: the launch, its number among the processes, and how many."""

    launch: str
    number: int
    num_processes: int


_origin: list[Origin] = []


class Opens(Protocol):
    """What opens a run around a block."""

    def __init__(self, settings: Settings, *, namespace: Mapping[str, Any] | None = None, source: str = "") -> None:
        """Take how and what is watched."""

    def __enter__(self) -> Any:
        """Open the run."""

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        """Close it."""


def origin() -> Origin | None:
    """Return what this process was started for by a watched run; None for any other process."""
    return _origin[0] if _origin else None


class Carried:
    """A function that other processes are to run, watched there; it can be pickled where the function can.

    Args:
        function: The function.
        watch: What opens runs.
        launch: Id of the launch.
        num_processes: How many are started.
        settings: Those of the run that starts the processes.
        source: Its source, by which lines of the cell are known.
        project: The project's folder.
    """

    def __init__(
        self,
        function: Any,
        *,
        watch: type[Opens],
        launch: str,
        num_processes: int,
        settings: Mapping[str, Any],
        source: str,
        project: str,
    ) -> None:
        self._function, self._watch, self._launch, self._size = function, watch, launch, num_processes
        self._source, self._project = source, project
        names = {field.name for field in fields(Settings)} - {"report", "fail_on", "panel"}
        self._settings = {name: value for name, value in settings.items() if name in names}

    def __call__(self, number: int, *args: Any) -> Any:
        """Run the function under a watch of this process's own.

        Args:
            number: Which of the processes this is, from 0; ``torch.multiprocessing`` hands it to the function first.
            *args: What the function is given beside it.
        """
        leave_inherited()
        session.runs.clear()
        session.folder = session.folder or Path(self._project)
        _origin[:] = [Origin(self._launch, number, self._size)]
        settings = Settings.from_dict({**self._settings, "panel": PanelMode.NONE})
        names = _names_of((self._function, getattr(self._function, "launcher", None), *args))
        with self._watch(settings, namespace=names, source=self._source):
            return self._function(number, *args)


def _names_of(candidates: Iterable[Any]) -> dict[str, Any]:
    """Return the global names of the first function of the user's; launchers hand it on as an argument."""
    for each in candidates:
        if isinstance(each, FunctionType) and is_users_file(each.__code__.co_filename):
            return each.__globals__
    return {}
