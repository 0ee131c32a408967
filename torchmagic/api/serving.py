"""This file is ``torchmagic.serve()``: the session over HTTP, joined with the debuggers, the switches and the store."""

import secrets
import warnings
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torchmagic.api.debugging import together
from torchmagic.api.reading import read
from torchmagic.debuggers.switches import switches
from torchmagic.session import session as room

if TYPE_CHECKING:
    from torchmagic.server.limits import Limits
    from torchmagic.server.running import Server
    from torchmagic.server.served import Cleared, Counts, Served, TrainingCounts

HOST = "127.0.0.1"
# 256 bits, which nobody guesses.
TOKEN_BYTES = 32
SHORTEST_TOKEN = 16
LAST_PORT = 65_535


def serve(
    port: int = 0,
    *,
    host: str = HOST,
    token: str = "",
    allowed_hosts: Iterable[str] = (),
    limits: "Limits | None" = None,
) -> "Server":
    """Answer questions about the runs of this process over HTTP, from a thread of its own, until stopped.

    Args:
        port: Port; 0 takes a free one.
        host: Address to bind to. Any but this machine's own lets others ask as well, and warns.
        token: What a client has to know, at least 16 letters; empty makes one up.
        allowed_hosts: Further names under which it may be addressed.
        limits: How much it answers.

    Returns:
        The server; its ``url`` and ``token`` are what a client needs, ``stop()`` or the end of a ``with`` ends it.

    Raises:
        ValueError: If the extra ``server`` is not installed, or a value is wrong.
        OSError: If the port cannot be had.
    """
    return _started(_process, port, host=host, token=token, allowed_hosts=allowed_hosts, limits=limits)


def serve_store(
    folder: str | Path,
    port: int = 0,
    *,
    host: str = HOST,
    token: str = "",
    allowed_hosts: Iterable[str] = (),
    limits: "Limits | None" = None,
) -> "Server":
    """Answer questions about the runs that a project's store holds; torch is not needed.

    Args:
        folder: The project's folder, in whose ``.torchmagic`` the store lies.
        port: As for ``serve``, as all that follows.
        host: Address to bind to.
        token: What a client has to know.
        allowed_hosts: Further names under which it may be addressed.
        limits: How much it answers.

    Raises:
        ValueError: As ``serve``, or if there is no store.
        OSError: As ``serve``.
    """
    session = room.Session(Path(folder).absolute())
    if not session.path.is_file():
        raise ValueError(f"there is no store at {session.path}; name the folder in which the notebook ran")
    served = partial(_store, session)
    return _started(served, port, host=host, token=token, allowed_hosts=allowed_hosts, limits=limits)


def _started(served: Any, port: int, *, host: str, token: str, allowed_hosts: Iterable[str], limits: Any) -> "Server":
    try:
        from torchmagic.server.app import application  # noqa: PLC0415 - only who serves needs FastAPI
        from torchmagic.server.hosts import Hosts, is_loopback  # noqa: PLC0415 - likewise
        from torchmagic.server.limits import Limits  # noqa: PLC0415 - likewise
        from torchmagic.server.running import Server  # noqa: PLC0415 - likewise
    except ImportError as error:
        raise ValueError(f'the server needs FastAPI and uvicorn ({error}): pip install "torchmagic[server]"') from None
    if not isinstance(port, int) or not 0 <= port <= LAST_PORT:
        raise ValueError(f"port is 0 to {LAST_PORT:,} (0 takes a free one), {port!r} came")
    token = _checked(token) if token else secrets.token_urlsafe(TOKEN_BYTES)
    limits = limits or Limits()
    if not is_loopback(host):
        told = f"torchmagic answers on {host} now, so other machines can ask with the token, and can read it on the way"
        warnings.warn(f"{told}; 127.0.0.1 and an ssh tunnel are safer", stacklevel=3)
    app = application(served(), token=token, hosts=Hosts(host, allowed_hosts), limits=limits)
    return Server(app, host=host, port=port, token=token, limits=limits)


def _checked(token: str) -> str:
    if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise ValueError(f"a token is {SHORTEST_TOKEN} or more ASCII letters, digits and signs without spaces")
    return token


def _process() -> "Served":
    """Return this process as what is served."""
    from torchmagic.server.served import Served  # noqa: PLC0415 - as above

    session = room.session
    return Served(
        history=session.history,
        read=partial(read, session),
        here=lambda: tuple(session.runs),
        debuggers=_Alive(),
        set_level=_set_level,
        clear=_clear,
    )


def _store(session: room.Session) -> "Served":
    """Return a store as what is served."""
    from torchmagic.server.served import NoDebuggers, Served  # noqa: PLC0415 - as above

    return Served(history=session.history, read=partial(read, session), debuggers=NoDebuggers())


def _set_level(level: str) -> str:
    switches.set_level(level)
    together.set_level(level)
    return str(switches.values()["level"])


def _clear() -> "Cleared":
    from torchmagic.server.served import Cleared  # noqa: PLC0415 - as above

    num_runs = len(room.session.runs)
    num_debuggers = together.clear()
    room.session.clear()
    return Cleared(debuggers=num_debuggers, runs=num_runs)


class _Alive:
    """The debuggers of this process that are alive."""

    def training(self) -> "TrainingCounts | None":
        """Return what the training debuggers counted together, or None where none is alive."""
        from torchmagic.server.served import TrainingCounts  # noqa: PLC0415 - as above

        found = together.training_summaries()
        if not found:
            return None
        return TrainingCounts(
            steps=_sum(found, "total_steps"),
            anomalies=_sum(found, "anomaly_steps"),
            exploding=_sum(found, "gradient_explosions"),
            vanishing=_sum(found, "gradient_vanishing"),
            losses=_sum(found, "loss_anomalies"),
            remembered=_sum(together.summaries("training"), "debug_history_length"),
        )

    def diffusion(self) -> "Counts | None":
        """Return what the diffusion debuggers counted together, or None where none is alive."""
        return _counts(together.summaries("diffusion"))

    def general(self) -> "Counts | None":
        """Return what the other debuggers counted together, or None where none is alive."""
        return _counts(together.summaries("general"))


def _counts(found: list[dict[str, Any]]) -> "Counts | None":
    from torchmagic.server.served import Counts  # noqa: PLC0415 - as above

    if not found:
        return None
    return Counts(anomalies=_sum(found, "total_anomalies"), remembered=_sum(found, "debug_history_length"))


def _sum(found: list[dict[str, Any]], name: str) -> int:
    return sum(int(each[name]) for each in found)
