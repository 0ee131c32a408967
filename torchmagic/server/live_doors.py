"""This file is the endpoints about what goes on right now: the event stream, and the metrics for Prometheus."""

from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from torchmagic.server.gate import EVENTS
from torchmagic.server.metrics import CONTENT_TYPE, metrics
from torchmagic.server.problems import NO_STORE
from torchmagic.server.reading import Reader
from torchmagic.server.standing import standings
from torchmagic.server.streams import Streams

_METRICS: dict[int | str, dict[str, Any]] = {
    200: {"description": "Text format 0.0.4.", "content": {CONTENT_TYPE: {"schema": {"type": "string"}}}}
}
_EVENT = {
    "type": "object",
    "properties": {
        "event": {"enum": ["opened", "step", "finding", "closed", "lost", "trouble"]},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
    "required": ["event", "data"],
}
_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events, one after the other; the data of each is one JSON object.",
        "content": {"text/event-stream": {"schema": _EVENT}},
    },
    503: {**NO_STORE[503], "description": "As many streams as there may be are open already."},
}
_Token = Annotated[str | None, Query(description="The token, where a client such as EventSource can send no header.")]


class LiveDoors:
    """The endpoints about what goes on right now.

    Args:
        reader: Finds the runs.
        streams: The event streams.
    """

    def __init__(self, reader: Reader, streams: Streams) -> None:
        self._reader, self._streams = reader, streams

    def router(self) -> APIRouter:
        """Return the endpoints."""
        router = APIRouter(tags=["live"])
        router.get(EVENTS, responses=_EVENTS, response_class=StreamingResponse)(self.events)
        router.get("/metrics", responses={**_METRICS, **NO_STORE}, response_class=Response)(self.metrics)
        return router

    async def events(self, token: _Token = None) -> StreamingResponse:
        """Tell of runs that open and close, of their steps and of findings, as they come."""
        del token  # the gate has looked at it
        if not self._streams.has_room:
            raise HTTPException(503, "as many event streams as there may be are open already; close one")
        return StreamingResponse(self._streams.listen(), media_type="text/event-stream")

    async def metrics(self) -> Response:
        """Tell how the newest runs stand, for Prometheus."""
        if self._reader.here() is None:
            found = await run_in_threadpool(standings, self._reader)
        else:
            found = standings(self._reader)
        return Response(metrics(found), media_type=CONTENT_TYPE)
