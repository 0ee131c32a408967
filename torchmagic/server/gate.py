"""This file is the gate: what every request has to pass before anything else is done with it."""

import hmac
import json
import math
from collections.abc import Sequence
from urllib.parse import parse_qsl

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from torchmagic.server.hosts import Hosts
from torchmagic.server.limits import Limits
from torchmagic.server.rates import Rates

# The only endpoint that takes the token in its address: a browser's EventSource can send no header.
EVENTS = "/events"
# What is sent is data; a browser is to run, frame, guess and keep none of it.
HEADERS: Sequence[tuple[bytes, bytes]] = (
    (b"x-content-type-options", b"nosniff"),
    (
        b"content-security-policy",
        b"default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'",
    ),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)
MOST_DIGITS = 18  # of a length; longer ones are no lengths
_Refusal = tuple[int, str, Sequence[tuple[bytes, bytes]]]


class Gate:
    """Lets requests through that come under a known name, not too often, with the token and without a large body.

    Args:
        app: What stands behind it.
        token: The token.
        hosts: The names under which the server may be addressed.
        limits: How often, and how much.

    Raises:
        ValueError: If the token is empty, which anybody knows.
    """

    def __init__(self, app: ASGIApp, *, token: str, hosts: Hosts, limits: Limits) -> None:
        if not token:
            raise ValueError("a server needs a token; an empty one came")
        self._app = app
        self._token = token.encode()
        self._hosts, self._limits, self._rates = hosts, limits, Rates(limits)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            return  # there are no websockets, and nothing to do when the server begins or ends
        refusal = self._refusal(scope)
        if refusal is not None:
            await _refuse(refusal, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        await self._app(scope, receive, guarded)

    def _refusal(self, scope: Scope) -> _Refusal | None:
        hosts = _all(scope, b"host")
        if len(hosts) != 1 or not self._hosts.allow(hosts[0].decode("latin-1")):
            return 400, "the Host header names another machine; use the address that the server printed", ()
        has_token = self._has_token(scope)
        wait = self._rates.wait(((scope.get("client") or ("",))[0], has_token))
        if wait:
            seconds = math.ceil(wait)
            retry = (b"retry-after", str(seconds).encode())
            return 429, f"too many requests; ask again in {seconds} s", (retry,)
        if not has_token:
            told = (
                "a token is needed: send the header 'Authorization: Bearer TOKEN' with the one that the server printed"
            )
            return 401, told, ((b"www-authenticate", b"Bearer"),)
        return self._body_refusal(scope)

    def _has_token(self, scope: Scope) -> bool:
        given = _all(scope, b"authorization")
        if not given and scope["path"] == EVENTS:
            query = parse_qsl(scope["query_string"].decode("latin-1"))
            values = [value.encode() for name, value in query if name == "token"]
        else:
            words = [each.strip().partition(b" ") for each in given]
            values = [value.strip() for scheme, _, value in words if scheme.lower() == b"bearer"]
        return len(values) == 1 and hmac.compare_digest(values[0], self._token)

    def _body_refusal(self, scope: Scope) -> _Refusal | None:
        lengths = _all(scope, b"content-length")
        if _all(scope, b"transfer-encoding"):
            return 411, "a body of unknown length came; no request here needs a body, send none", ()
        if any(
            not each.isdigit() or len(each) > MOST_DIGITS or int(each) > self._limits.body_bytes for each in lengths
        ):
            return 413, f"the body is larger than {self._limits.body_bytes:,} bytes; no request here needs one", ()
        return None


def _all(scope: Scope, name: bytes) -> list[bytes]:
    return [value for key, value in scope["headers"] if key == name]


async def _refuse(refusal: _Refusal, send: Send) -> None:
    status, line, headers = refusal
    body = json.dumps({"error": line}).encode()
    about = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *headers, *HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": about})
    await send({"type": "http.response.body", "body": body})
