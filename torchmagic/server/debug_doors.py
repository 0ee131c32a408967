"""This file is the endpoints about debugging, as the document of the training logs has them."""

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, HTTPException, Path
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from torchmagic.server.answers import Answer, sent
from torchmagic.server.debug_answers import ClearAnswer, DebugSummary, LevelAnswer, LevelName, TrainingSummary
from torchmagic.server.problems import NO_PROCESS, NO_STORE, WRONG_VALUE
from torchmagic.server.reading import Reader
from torchmagic.server.served import Served
from torchmagic.server.summaries import debug_summary, training_summary

Level = Annotated[LevelName, Path(description="How closely runs are watched; extreme is another word for expert.")]


class DebugDoors:
    """The endpoints about debugging.

    Args:
        served: What is served.
        reader: Finds the runs.
    """

    def __init__(self, served: Served, reader: Reader) -> None:
        self._served, self._reader = served, reader

    def router(self) -> APIRouter:
        """Return the endpoints."""
        router = APIRouter(prefix="/training-logs/debug", tags=["debugging"])
        router.get("/summary", response_model=DebugSummary, responses={**NO_STORE})(self.summary)
        router.get("/training/summary", response_model=TrainingSummary, responses={**NO_STORE})(self.training)
        router.post("/level/{level}", response_model=LevelAnswer, responses={**NO_PROCESS, **WRONG_VALUE})(self.level)
        router.post("/clear", response_model=ClearAnswer, responses={**NO_PROCESS})(self.clear)
        return router

    async def summary(self) -> Response:
        """Tell what all debuggers saw; where none is alive, what the runs tell."""
        return await self._read(lambda: debug_summary(self._served.debuggers, self._reader))

    async def training(self) -> Response:
        """Tell what went wrong in the training, in steps and in shares of all steps."""
        return await self._read(lambda: training_summary(self._served.debuggers, self._reader))

    async def level(self, level: Level) -> Response:
        """Watch all runs at this level: those to come, and one that goes on from its next step on."""
        if self._served.set_level is None:
            raise HTTPException(409, "a store is served: there is no process whose level could be set")
        return sent(LevelAnswer.model_validate({"level": self._served.set_level(level)}))

    async def clear(self) -> Response:
        """Forget the histories of all debuggers and the runs of this process; the store keeps its runs."""
        if self._served.clear is None:
            raise HTTPException(409, "a store is served: there is no process that could forget anything")
        return sent(ClearAnswer.model_validate(self._served.clear()))

    async def _read(self, tell: Callable[[], Answer]) -> Response:
        """Tell at once what is in memory; what is on a disk is read beside the event loop."""
        return sent(await run_in_threadpool(tell) if self._served.here is None else tell())
