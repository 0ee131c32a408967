"""A session with hand-made runs, served without a network."""

import asyncio
import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import httpx
import pytest

from torchmagic.api.reading import read
from torchmagic.records.finding import Finding, Severity
from torchmagic.server.app import Application, application
from torchmagic.server.hosts import Hosts
from torchmagic.server.limits import Limits
from torchmagic.server.served import Cleared, NoDebuggers, Served
from torchmagic.session.run import Run, Status
from torchmagic.session.session import Session

TOKEN = "a-token-of-many-letters"  # noqa: S105 - of these tests
FINDING = Finding(
    rule="loss-spike",
    severity=Severity.WARNING,
    confidence=0.8,
    title="the loss jumps",
    step=7,
    evidence={"loss": math.inf, "threshold": 10.0, "at": "line 3"},
    causes=("exploding-gradient",),
)


@dataclass
class Asker:
    """Asks an application, with its token unless told otherwise."""

    application: Application

    def __call__(self, method: str, path: str, *, headers: dict[str, str] | None = None, **more: Any) -> httpx.Response:
        return asyncio.run(self.many([(method, path, headers, more)]))[0]

    def get(self, path: str, **more: Any) -> httpx.Response:
        return self("GET", path, **more)

    def post(self, path: str, **more: Any) -> httpx.Response:
        return self("POST", path, **more)

    async def many(
        self, requests: list[tuple[str, str, dict[str, str] | None, dict[str, Any]]]
    ) -> list[httpx.Response]:
        transport = httpx.ASGITransport(self.application.asgi, raise_app_exceptions=False, client=("127.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:1") as client:
            return [
                await client.request(
                    method, path, headers={"Authorization": f"Bearer {TOKEN}"} if headers is None else headers, **more
                )
                for method, path, headers, more in requests
            ]


def watched(name, *, steps=20, status=Status.OK):
    run = Run(name=name, source="loss.backward()", settings={"level": "basic", "budget": math.inf})
    for step in range(steps):
        run.frame("loss", ("",)).append(step, (1 / (step + 1),))
        run.frame("grad_norm", ("",)).append(step, (0.5,))
        run.newest.clear()
        run.frame("grad_norm", ("net.0.weight", "net.0.bias")).append(step, (0.5 + step, 0.25))
        run.steps = step + 1
    run.status, run.clock.seconds, run.clock.cost = status, 2.0, 0.1
    return run


@pytest.fixture
def session(tmp_path):
    """A session of two runs, the second of which goes on."""
    session = Session(tmp_path)
    first = watched("first")
    first.findings = (FINDING, replace(FINDING, rule="plateau", severity=Severity.INFO))
    session.add(first)
    session.add(watched("second", steps=5, status=Status.RUNNING))
    yield session
    session.close()


@pytest.fixture
def make(session):
    """Makes an asker of the session; the level that was set last is in ``levels``."""

    def asker(*, limits=None, of=None, hosts=None, **more):
        runs = of or session
        about = {
            "here": lambda: tuple(runs.runs),
            "debuggers": NoDebuggers(),
            "set_level": lambda level: "expert" if level == "extreme" else level,
            "clear": lambda: Cleared(debuggers=0, runs=len(runs.runs)),
        }
        about |= {"history": runs.history, "read": partial(read, runs)}
        served = Served(**(about | more))
        limits = limits or Limits(burst=100_000, stream_seconds=0.05)
        return Asker(application(served, token=TOKEN, hosts=hosts or Hosts("127.0.0.1"), limits=limits))

    return asker


@pytest.fixture
def ask(make):
    """The session of two runs, to be asked."""
    return make()


@pytest.fixture
def stored(tmp_path):
    """A folder whose store holds one run that has ended and one whose process goes on."""
    with_runs = Session(tmp_path)
    for name, steps, status in (("done", 30, Status.OK), ("under way", 5, Status.RUNNING)):
        run = watched(name, steps=steps, status=status)
        with_runs.add(run)
        with_runs.write(run, final=True)
    yield with_runs
    with_runs.close()
