"""See inside a PyTorch training run from the notebook cell that runs it."""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torchmagic.api.profile import profile as profile
    from torchmagic.api.session import Session as Session
    from torchmagic.api.session import session as session
    from torchmagic.debuggers.loading import load as load
    from torchmagic.debuggers.modelinfo import modelinfo as modelinfo
    from torchmagic.debuggers.settings import Settings as Settings
    from torchmagic.debuggers.tensorinfo import tensorinfo as tensorinfo
    from torchmagic.debuggers.watching import watch as watch
    from torchmagic.jupyter.extension import load_ipython_extension as load_ipython_extension
    from torchmagic.jupyter.extension import unload_ipython_extension as unload_ipython_extension
    from torchmagic.probes.nonfinite import NonFiniteError as NonFiniteError
    from torchmagic.records.finding import Finding as Finding
    from torchmagic.records.finding import Severity as Severity
    from torchmagic.session.run import Run as Run

__version__ = "0.1.0"

_HOMES = {
    "Finding": "records.finding",
    "NonFiniteError": "probes.nonfinite",
    "Run": "session.run",
    "Session": "api.session",
    "Settings": "debuggers.settings",
    "Severity": "records.finding",
    "load": "debuggers.loading",
    "load_ipython_extension": "jupyter.extension",
    "modelinfo": "debuggers.modelinfo",
    "profile": "api.profile",
    "session": "api.session",
    "tensorinfo": "debuggers.tensorinfo",
    "unload_ipython_extension": "jupyter.extension",
    "watch": "debuggers.watching",
}
__all__ = [*_HOMES, "__version__"]  # noqa: PLE0604 - a list of names, built from the table above


def __getattr__(name: str) -> Any:
    """Load a public name from its room on first use (PEP 562)."""
    if name not in _HOMES:
        message = f"module 'torchmagic' has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(import_module(f"torchmagic.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """The package itself: ``torchmagic.session`` is the process's session, not the room of that name."""

    @property
    def session(self) -> Any:
        """The session of this process."""
        return import_module(f"torchmagic.{_HOMES['session']}").session

    @session.setter
    def session(self, room: ModuleType) -> None:
        """Let the import system bind the room without hiding the session behind it."""


sys.modules[__name__].__class__ = _Package
