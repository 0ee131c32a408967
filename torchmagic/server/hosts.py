"""This file is the names under which a server may be addressed, so that no web page can reach it by a name of its own.

A page in the user's browser may point a name of its own at this machine (DNS rebinding); its requests then come with
that name in their Host header, and are refused.
"""

import ipaddress
import socket
from collections.abc import Iterable

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class Hosts:
    """The names that a Host header may hold; the port is let be, as a tunnel has another one.

    Args:
        host: What the server is bound to.
        more: Further names, such as that of a tunnel's end.
    """

    def __init__(self, host: str, more: Iterable[str] = ()) -> None:
        self._is_local = is_loopback(host)
        names = LOOPBACK if self._is_local else {host, *LOOPBACK, socket.gethostname(), socket.getfqdn()}
        self._names = {name.lower() for name in (*names, *more)}

    def allow(self, header: str) -> bool:
        """Whether a request with this Host header is answered."""
        name = _without_port(header.strip().lower())
        if name in self._names:
            return True
        # An address cannot be pointed elsewhere; one that is not of this machine does not come here.
        return not self._is_local and _is_address(name)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what is bound to this host."""
    if host.lower() == "localhost":
        return True
    return _is_address(host) and ipaddress.ip_address(host).is_loopback


def _without_port(header: str) -> str:
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.rpartition(":")[0] if header.count(":") == 1 else header


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
