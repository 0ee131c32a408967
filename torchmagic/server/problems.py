"""This file is the problems: whatever goes wrong with a request becomes one clear line of JSON."""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from torchmagic.server.answers import Problem
from torchmagic.server.missing import MissingError
from torchmagic.server.plain import text
from torchmagic.session.database import StoreError

_PROBLEM: dict[str, Any] = {"model": Problem}
# What the gate may answer to any request.
OF_THE_GATE: dict[int | str, dict[str, Any]] = {
    400: {**_PROBLEM, "description": "The Host header names another machine."},
    401: {**_PROBLEM, "description": "The token is missing or wrong."},
    411: {**_PROBLEM, "description": "A body of unknown length came."},
    413: {**_PROBLEM, "description": "The body is too large."},
    429: {**_PROBLEM, "description": "Too many requests; Retry-After says when to ask again."},
}
NO_SUCH_RUN: dict[int | str, dict[str, Any]] = {
    404: {**_PROBLEM, "description": "There is no such run or series."},
    422: {**_PROBLEM, "description": "A value is not what was wanted."},
}
NO_STORE: dict[int | str, dict[str, Any]] = {503: {**_PROBLEM, "description": "The store cannot be read now."}}
WRONG_VALUE: dict[int | str, dict[str, Any]] = {
    422: {**_PROBLEM, "description": "A value is not what was wanted."},
}
NO_PROCESS: dict[int | str, dict[str, Any]] = {
    409: {**_PROBLEM, "description": "A store is served, and no process whose state could be changed."}
}


def handle_problems(app: FastAPI) -> None:
    """Have everything that goes wrong answered in one line."""
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(RequestValidationError, _wrong_value)
    app.add_exception_handler(MissingError, _not_there)
    app.add_exception_handler(StoreError, _no_store)
    app.add_exception_handler(Exception, _failed)


def problem(status: int, line: str, headers: dict[str, str] | None = None) -> Response:
    """Return an answer that says what is wrong."""
    told = " ".join(text(line).split())
    return JSONResponse({"error": told}, status_code=status, headers=headers)


async def _refused(_request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 500)
    headers = dict(getattr(error, "headers", None) or {})
    lines = {404: "there is no such address; GET /openapi.json lists those that there are", 405: "not with this method"}
    line = lines.get(status, str(getattr(error, "detail", error)))
    if status == 405 and "Allow" in headers:  # noqa: PLR2004 - the status for it
        line = f"{line}; this address takes {headers['Allow']}"
    return problem(status, line, headers)


async def _wrong_value(_request: Request, error: Exception) -> Response:
    errors = error.errors() if isinstance(error, RequestValidationError) else ()
    return problem(422, "; ".join(f"{each['loc'][-1]}: {each['msg']}" for each in errors))


async def _not_there(_request: Request, error: Exception) -> Response:
    return problem(404, str(error))


async def _no_store(_request: Request, error: Exception) -> Response:
    return problem(503, str(error))


async def _failed(_request: Request, error: Exception) -> Response:
    return problem(500, f"torchmagic failed to answer ({type(error).__name__}: {error}); the process goes on")
