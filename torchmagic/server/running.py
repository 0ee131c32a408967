"""This file is the running server: bound before it is handed over, in a thread of its own, gone when stopped."""

import asyncio
import atexit
import os
import socket
import threading
import weakref
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from torchmagic.server.app import Application
from torchmagic.server.hosts import is_loopback
from torchmagic.server.limits import Limits

# Longest waits for the thread: to be ready, and to be gone.
LONGEST_START = 10.0
LONGEST_STOP = 5.0
# A request line and its headers may take so many bytes.
MOST_HEADER_BYTES = 16_384


class Server:
    """A server at work.

    Args:
        application: What answers.
        host: Address to bind to.
        port: Port; 0 takes a free one.
        token: The token that clients need.
        limits: How much it answers.

    Raises:
        OSError: If the port cannot be had, or nothing answers; in one line.
    """

    def __init__(self, application: Application, *, host: str, port: int, token: str, limits: Limits) -> None:
        self.host, self.token = host, token
        self._socket = _bound(host, port)
        self.port: int = self._socket.getsockname()[1]
        self._uvicorn = _Uvicorn(_config(application, limits), application.streams.close)
        self._thread = threading.Thread(target=self._work, name="torchmagic-server", daemon=True)
        _servers.add(self)
        atexit.register(self.stop)
        self._thread.start()
        self._uvicorn.ready.wait(LONGEST_START)
        if not self._uvicorn.started:
            self.stop()
            raise OSError(f"the server at {self.url} did not begin to answer; stop others and try again")

    def __repr__(self) -> str:
        return f"<Server {self.url}{'' if self.is_running else ', stopped'}>"

    @property
    def url(self) -> str:
        """Where it answers, without a slash at the end; the token is not in it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    @property
    def is_running(self) -> bool:
        """Whether it answers."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """End all streams, answer what was asked, and let the port go; safe to call twice."""
        atexit.unregister(self.stop)
        self._uvicorn.should_exit = True
        if self._thread is not threading.current_thread():
            self._thread.join(LONGEST_STOP)
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        self.stop()

    def leave_to_parent(self) -> None:
        """Let go of the port in a forked child, which has no thread that could answer."""
        atexit.unregister(self.stop)
        self._socket.close()

    def _work(self) -> None:
        try:
            asyncio.run(self._uvicorn.serve(sockets=[self._socket]))
        finally:
            self._uvicorn.ready.set()


class _Uvicorn(uvicorn.Server):
    """A uvicorn that says when it is ready, and ends the streams before it waits for connections."""

    def __init__(self, config: uvicorn.Config, close_streams: Callable[[], None]) -> None:
        super().__init__(config)
        self.ready = threading.Event()
        self._close_streams = close_streams

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer."""
        await super().startup(sockets)
        self.ready.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer no more."""
        self._close_streams()
        await super().shutdown(sockets)


class _Protocol(H11Protocol):
    """HTTP without a log of requests: a stream's address holds the token."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.access_log = False


class _Config(uvicorn.Config):
    """A configuration that leaves the process's logging as it is."""

    def configure_logging(self) -> None:
        """Change nothing."""


def _config(application: Application, limits: Limits) -> uvicorn.Config:
    return _Config(
        application.asgi,
        http=_Protocol,
        ws="none",
        lifespan="off",
        loop="asyncio",
        interface="asgi3",
        proxy_headers=False,
        server_header=False,
        limit_concurrency=limits.connections,
        timeout_graceful_shutdown=1,
        h11_max_incomplete_event_size=MOST_HEADER_BYTES,
    )


def _bound(host: str, port: int) -> socket.socket:
    """Return a socket that is bound, so that a port that is taken is said here and now."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Only of a socket that says so does asyncio send small answers at once (TCP_NODELAY); others wait some 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":  # elsewhere it would let two servers have one port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen()
    except OSError as error:
        listener.close()
        where = "this machine" if is_loopback(host) else repr(host)
        told = (
            f"port {port} of {where} cannot be had ({error.strerror or error}); take another one, or 0 for a free one"
        )
        raise OSError(told) from None
    return listener


_servers: weakref.WeakSet[Server] = weakref.WeakSet()


def _after_fork() -> None:
    for server in tuple(_servers):
        server.leave_to_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
