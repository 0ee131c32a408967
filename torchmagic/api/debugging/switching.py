"""This file is a debugger's switches: torchmagic's own, under the names of the document on debugging tools."""

from collections.abc import Callable, Iterable, Mapping

from torchmagic.api.debugging.config import SWITCHES
from torchmagic.debuggers.switches import probe_named, switches

# Every switch of the configuration that stands for one probe.
NAMES = tuple(name for name in SWITCHES if name.startswith(("enable_autograd", "enable_tensorboard", "debug_", "log_")))


def enable(options: Iterable[str] | str | None = None) -> None:
    """Switch on what is named, for all runs to come and for those that go on; None is all.

    Args:
        options: Such as ``memory_usage`` or ``debug_memory_usage``, or a probe's own name.

    Raises:
        ValueError: If there is none of that name; one line that names the nearest. Nothing is switched then.
    """
    _switch(switches.enable, options)


def disable(options: Iterable[str] | str | None = None) -> None:
    """Switch off what is named, as ``enable`` does; None is all."""
    _switch(switches.disable, options)


def switches_of(is_on: Mapping[str, bool]) -> dict[str, bool]:
    """Return for each switch of the configuration whether what it stands for is watched.

    Args:
        is_on: The same by probe.
    """
    return {name: is_on[probe_named(name.removeprefix("log_"))] for name in NAMES}


def _switch(deed: Callable[..., None], names: Iterable[str] | str | None) -> None:
    chosen = [names] if isinstance(names, str) or not isinstance(names, Iterable) else list(names)
    if names is None:
        deed()
    elif chosen:  # a list of none switches nothing
        deed(*map(str, chosen))
