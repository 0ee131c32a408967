"""This file is the server that ``%torchsession serve`` starts: one at most, until it is stopped."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchmagic.server.running import Server

_running: "list[Server]" = []


def begin(port: int = 0) -> "tuple[Server, bool]":
    """Return the server, and whether it has only now begun.

    Args:
        port: Port of a new one; 0 takes a free one.

    Raises:
        ValueError: If the extra ``server`` is not installed, the port is wrong, or one answers at another port.
        OSError: If the port cannot be had.
    """
    from torchmagic.api.serving import serve  # noqa: PLC0415 - who never serves does not load it

    if _running and _running[0].is_running:
        (server,) = _running
        if port not in (0, server.port):
            raise ValueError(f"it answers at {server.url} already; stop it first to have it at another port")
        return server, False
    _running[:] = [serve(port)]
    return _running[0], True


def end() -> "Server | None":
    """Stop the server; return it, or None where none was running."""
    server = _running.pop() if _running else None
    if server is None or not server.is_running:
        return None
    server.stop()
    return server
