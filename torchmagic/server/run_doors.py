"""This file is the endpoints about runs: the list of them, and of each its findings, its series and its report."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query
from starlette.responses import HTMLResponse, Response

from torchmagic.server.answers import FindingList, RunDetail, RunList, Series, SeriesNames, sent
from torchmagic.server.known_names import known_names
from torchmagic.server.points import NUM_ALWAYS_KEPT
from torchmagic.server.problems import NO_STORE, NO_SUCH_RUN, WRONG_VALUE
from torchmagic.server.reading import Reader
from torchmagic.server.said import findings_of, run_detail, run_line, series, series_names
from torchmagic.views.report import report

MOST_RUNS = 1000
MOST_POINTS = 10_000
_LONGEST = 500

_REPORT: dict[int | str, dict[str, Any]] = {
    200: {"description": "One HTML page.", "content": {"text/html": {"schema": {"type": "string"}}}}
}
Which = Annotated[str, Path(max_length=_LONGEST, description="Number (negative from the end), id, name, or last.")]
Metric = Annotated[str, Path(max_length=_LONGEST, description="Name of a metric, such as loss.")]
Limit = Annotated[int, Query(ge=1, le=MOST_RUNS, description="Most runs to list.")]
Before = Annotated[int | None, Query(ge=1, le=2**53, description="Only runs of a smaller number: the next part.")]
Subject = Annotated[str, Query(max_length=_LONGEST, description="Module, loss or other subject of the metric.")]
Parameter = Annotated[str, Query(max_length=_LONGEST, description="Full name of a parameter; the same as subject.")]
NumPoints = Annotated[int, Query(ge=NUM_ALWAYS_KEPT, le=MOST_POINTS, description="Most points to send.")]


class RunDoors:
    """The endpoints about runs; each runs beside the event loop, as a store may have to be read.

    Args:
        reader: Finds the runs.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def router(self) -> APIRouter:
        """Return the endpoints."""
        router = APIRouter(tags=["runs"], responses={**NO_STORE}, dependencies=[Depends(known_names)])
        router.get("/runs", response_model=RunList, responses=WRONG_VALUE)(self.runs)
        router.get("/runs/{run}", response_model=RunDetail, responses=NO_SUCH_RUN)(self.run)
        router.get("/runs/{run}/findings", response_model=FindingList, responses=NO_SUCH_RUN)(self.findings)
        router.get("/runs/{run}/series", response_model=SeriesNames, responses=NO_SUCH_RUN)(self.series_names)
        router.get("/runs/{run}/series/{metric}", response_model=Series, responses=NO_SUCH_RUN)(self.series)
        router.get("/runs/{run}/report", response_class=Response, responses={**_REPORT, **NO_SUCH_RUN})(self.report)
        return router

    def runs(self, limit: Limit = 100, before: Before = None) -> Response:
        """List the runs of this process and of its store, the newest first."""
        entries = self._reader.entries()
        chosen = [entry for entry in entries if before is None or entry.number < before][::-1][:limit]
        return sent(RunList(total=len(entries), runs=[run_line(entry) for entry in chosen]))

    def run(self, run: Which) -> Response:
        """Tell about one run: how it was watched, how it stands, and which series it has."""
        found = self._reader.run(run)
        return sent(run_detail(found, here=found in (self._reader.here() or ())))

    def findings(self, run: Which) -> Response:
        """Tell what is wrong with a run, where, and what to do."""
        return sent(findings_of(self._reader.run(run)))

    def series_names(self, run: Which) -> Response:
        """List the series of a run."""
        return sent(series_names(self._reader.run(run)))

    def series(
        self, run: Which, metric: Metric, subject: Subject = "", parameter: Parameter = "", points: NumPoints = 1000
    ) -> Response:
        """Return one metric over the steps; of a long series evenly chosen points, its ends and its extremes."""
        return sent(series(self._reader.run(run), metric, parameter or subject, points))

    def report(self, run: Which) -> HTMLResponse:
        """Return a run as one HTML page without scripts that needs nothing beside it."""
        return HTMLResponse(report(self._reader.run(run)).encode("utf-8", "xmlcharrefreplace"))
