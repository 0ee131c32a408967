"""This file is the card as a tensor's own picture: put into a shell's formatter, and taken out again."""

import sys
from collections.abc import Container
from typing import Any
from weakref import WeakKeyDictionary

_TENSOR = ("torch", "Tensor")  # by name: torch waits until one is shown
# What each formatter that we are in had for tensors before.
_EARLIER: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()


def switch(state: str, shell: Any = None) -> None:
    """Show a tensor that is a cell's last expression as its card, or as torch prints it.

    Args:
        state: ``on`` or ``off``.
        shell: The IPython shell; None takes the running one.

    Raises:
        ValueError: If the state is neither.
        RuntimeError: If no IPython shell is running.
    """
    if state not in ("on", "off"):
        raise ValueError(f"repr is 'on' or 'off', {state!r} came")
    formatter = _formatter(shell)
    if state == "on" and not is_on(shell):
        _EARLIER[formatter] = formatter.for_type_by_name(*_TENSOR, card)
    elif state == "off" and is_on(shell):
        formatter.pop(".".join(_TENSOR), None)
        earlier = _EARLIER.pop(formatter)
        if earlier is not None:
            formatter.for_type_by_name(*_TENSOR, earlier)


def is_on(shell: Any = None) -> bool:
    """Whether tensors are shown as cards."""
    return _formatter(shell) in _EARLIER


def card(tensor: Any, include: Container[str] | None = None, exclude: Container[str] | None = None) -> dict[str, str]:
    """Return a tensor's card as text and HTML."""
    from torchmagic.debuggers.tensorinfo import tensorinfo  # noqa: PLC0415 - torch waits for the first use

    return tensorinfo(tensor)._repr_mimebundle_(include, exclude)


def _formatter(shell: Any) -> Any:
    # The shell is asked for, not imported: only the jupyter room knows IPython.
    found = sys.modules.get("IPython")
    shell = shell if shell is not None or found is None else found.get_ipython()
    if shell is None:
        raise RuntimeError(
            "cards in place of torch's print need a notebook or an IPython shell; call tensorinfo(x) here"
        )
    return shell.display_formatter.mimebundle_formatter
