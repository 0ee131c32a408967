"""Whatever is sent to the server, its answer is the one that its description promises (schemathesis)."""

from functools import partial

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode

from torchmagic.api.reading import read
from torchmagic.server.app import application
from torchmagic.server.hosts import Hosts
from torchmagic.server.limits import Limits
from torchmagic.server.served import Cleared, NoDebuggers, Served
from torchmagic.session.session import Session

TOKEN = "a-token-of-many-letters"  # noqa: S105 - of these tests
# Both kinds of what is served: a process, and a store.
KINDS = ("process", "store")
bounded = settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)


def served(session, kind):
    living = {
        "here": lambda: tuple(session.runs),
        "set_level": lambda level: "expert" if level == "extreme" else level,
        "clear": lambda: Cleared(debuggers=0, runs=0),
    }
    return Served(
        history=session.history,
        read=partial(read, session),
        debuggers=NoDebuggers(),
        **(living if kind == "process" else {}),
    )


def schema_of(session, kind):
    limits = Limits(burst=10_000_000, stream_seconds=0.01)
    hosts = Hosts("127.0.0.1", ["testserver"])
    app = application(served(session, kind), token=TOKEN, hosts=hosts, limits=limits)
    return schemathesis.openapi.from_asgi("/openapi.json", app.asgi, headers={"Authorization": f"Bearer {TOKEN}"})


def operations():
    """Yield each endpoint that the application describes."""
    empty = Served(history=list, read={}.__getitem__, debuggers=NoDebuggers())
    inner = application(empty, token=TOKEN, hosts=Hosts("127.0.0.1")).inner
    for path, methods in inner.openapi()["paths"].items():
        yield from ((method, path) for method in methods)


@pytest.fixture(params=KINDS)
def api(request, session, stored):
    """The description of the application, read from itself."""
    return schema_of(session if request.param == "process" else Session(stored.folder), request.param)


def test_all_endpoints_of_the_document_are_described():
    assert {
        ("get", "/training-logs/debug/summary"),
        ("get", "/training-logs/debug/training/summary"),
        ("post", "/training-logs/debug/level/{level}"),
        ("post", "/training-logs/debug/clear"),
        ("get", "/runs"),
        ("get", "/events"),
        ("get", "/metrics"),
    } <= set(operations())


@pytest.mark.parametrize(("method", "path"), list(operations()))
@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
def test_every_answer_is_as_described(api, method, path, mode):
    operation = api[path][method]
    strategy = operation.as_strategy(generation_mode=mode)

    @bounded
    @given(case=strategy)
    def check(case):
        case.call_and_validate(headers={"Authorization": f"Bearer {TOKEN}"})

    # Of the events nothing can be wrong but the token, which this test sends.
    has_values = operation.path_parameters or (operation.query and path != "/events")
    if mode is GenerationMode.POSITIVE or has_values:
        check()


@pytest.mark.parametrize(("method", "path"), list(operations()))
def test_without_the_token_every_answer_is_a_refusal(api, method, path):
    @bounded
    @given(case=api[path][method].as_strategy())
    def check(case):
        for headers in ({}, {"Authorization": "Bearer wrong"}):
            case.headers.clear()
            assert case.call(headers=headers).status_code == 401

    check()
