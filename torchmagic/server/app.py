"""This file is the application: all endpoints behind one gate."""

from dataclasses import dataclass

from fastapi import FastAPI, Security
from fastapi.security import HTTPBearer
from starlette.types import ASGIApp

from torchmagic.server.debug_doors import DebugDoors
from torchmagic.server.events import News
from torchmagic.server.gate import Gate
from torchmagic.server.hosts import Hosts
from torchmagic.server.limits import Limits
from torchmagic.server.live_doors import LiveDoors
from torchmagic.server.problems import OF_THE_GATE, handle_problems
from torchmagic.server.reading import Reader
from torchmagic.server.run_doors import RunDoors
from torchmagic.server.served import Served
from torchmagic.server.streams import Streams

_ABOUT = "What torchmagic saw of training runs, and sees right now. Numbers that JSON does not know are told by name."
# It is the gate that looks at the token; this says so in the description.
_BEARER = HTTPBearer(auto_error=False, description="The token that the server printed.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """What answers requests.

    Args:
        asgi: The application, behind its gate.
        inner: The same without a gate, for its description.
        streams: Its event streams, to be closed when the server stops.
    """

    asgi: ASGIApp
    inner: FastAPI
    streams: Streams


def application(served: Served, *, token: str, hosts: Hosts, limits: Limits | None = None) -> Application:
    """Return the application that answers for a session.

    Args:
        served: What is served.
        token: What a client has to know.
        hosts: The names under which it may be addressed.
        limits: How much it answers.
    """
    limits = limits or Limits()
    reader = Reader(served)
    streams = Streams(News(reader), limits, in_thread=served.here is None)
    inner = FastAPI(
        title="torchmagic",
        version="1",
        description=_ABOUT,
        docs_url=None,  # these pages would load their scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        responses=OF_THE_GATE,
        dependencies=[Security(_BEARER)],
    )
    handle_problems(inner)
    for doors in (DebugDoors(served, reader), RunDoors(reader), LiveDoors(reader, streams)):
        inner.include_router(doors.router())
    return Application(asgi=Gate(inner, token=token, hosts=hosts, limits=limits), inner=inner, streams=streams)
