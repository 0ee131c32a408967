"""Nobody gets past the gate without the token, under another name, too often, or with a large body."""

import asyncio
import logging

import pytest

from torchmagic.server.gate import Gate
from torchmagic.server.hosts import Hosts, is_loopback
from torchmagic.server.limits import Limits
from torchmagic.server.rates import Rates

TOKEN = "a-token-of-many-letters"  # noqa: S105 - of these tests
PATHS = [
    ("GET", "/training-logs/debug/summary"),
    ("GET", "/training-logs/debug/training/summary"),
    ("POST", "/training-logs/debug/level/basic"),
    ("POST", "/training-logs/debug/clear"),
    ("GET", "/runs"),
    ("GET", "/runs/last"),
    ("GET", "/runs/1/findings"),
    ("GET", "/runs/1/series"),
    ("GET", "/runs/1/series/loss"),
    ("GET", "/runs/1/report"),
    ("GET", "/events"),
    ("GET", "/metrics"),
    ("GET", "/openapi.json"),
    ("GET", "/docs"),
    ("GET", "/no/such/address"),
    ("OPTIONS", "/runs"),
    ("DELETE", "/runs/1"),
]


def all_routes(ask):
    described = ask.application.inner.openapi()["paths"]
    return {(method.upper(), path) for path, methods in described.items() for method in methods}


def test_the_list_of_paths_below_has_every_endpoint(ask):
    known = {(method, path.replace("/1", "/{run}").replace("loss", "{metric}")) for method, path in PATHS}
    known |= {("GET", "/runs/{run}"), ("POST", "/training-logs/debug/level/{level}")}
    assert all_routes(ask) <= known


WRONG = (
    "Bearer",
    "Bearer wrong",
    f"Bearer {TOKEN}x",
    f"Bearer {TOKEN[:-1]}",
    f"Basic {TOKEN}",
    TOKEN,
    "Bearer \xe9\xff",
    f"Bearer {TOKEN} {TOKEN}",
)


@pytest.mark.parametrize(("method", "path"), PATHS)
def test_without_the_token_nothing_is_told(ask, method, path):
    sent = [{}, *({b"Authorization": header.encode("latin-1")} for header in WRONG)]
    for reply in asyncio.run(ask.many([(method, path, headers, {}) for headers in sent])):
        assert reply.status_code == 401
        assert reply.headers["www-authenticate"] == "Bearer"
        assert list(reply.json()) == ["error"]


@pytest.mark.parametrize("path", [path for method, path in PATHS if method == "GET" and path != "/events"])
def test_a_token_in_the_address_opens_the_events_alone(ask, path):
    assert ask.get(f"{path}?token={TOKEN}", headers={}).status_code == 401


def test_the_events_take_the_token_in_the_address(ask):
    assert ask.get(f"/events?token={TOKEN}", headers={}).status_code == 200
    assert ask.get(f"/events?token={TOKEN}x", headers={}).status_code == 401
    assert ask.get(f"/events?token={TOKEN}&token={TOKEN}", headers={}).status_code == 401
    assert ask.get(f"/events?token={TOKEN}", headers={"Authorization": "Bearer wrong"}).status_code == 401


def test_there_is_no_server_without_a_token(ask):
    with pytest.raises(ValueError, match="needs a token"):
        Gate(ask.application.inner, token="", hosts=Hosts("127.0.0.1"), limits=Limits())


def test_two_tokens_are_none(ask):
    headers = [("Authorization", f"Bearer {TOKEN}"), ("Authorization", f"Bearer {TOKEN}")]
    assert ask.get("/runs", headers=headers).status_code == 401


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "", "10.0.0.1"])
def test_a_name_that_is_not_ours_is_refused_even_with_the_token(ask, host):
    reply = ask.get("/runs", headers={"Authorization": f"Bearer {TOKEN}", "Host": host})
    assert reply.status_code == 400
    assert "Host header" in reply.json()["error"]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8000", "localhost:9", "LOCALHOST", "[::1]:80", "[::1]"])
def test_the_names_of_this_machine_are_answered(ask, host):
    assert ask.get("/runs", headers={"Authorization": f"Bearer {TOKEN}", "Host": host}).status_code == 200


def test_a_server_for_others_is_reached_by_address_and_by_the_names_it_was_given():
    hosts = Hosts("0.0.0.0", ["train.example"])  # noqa: S104 - what is asked about
    assert hosts.allow("192.168.1.7:80")
    assert hosts.allow("train.example")
    assert not hosts.allow("evil.example")


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("127.1.2.3", True), ("localhost", True), ("::1", True), ("0.0.0.0", False), ("x", False)],  # noqa: S104 - as above
)
def test_what_is_bound_to_this_machine_alone(host, expected):
    assert is_loopback(host) is expected


def test_a_large_body_is_refused_before_it_is_read(ask):
    reply = ask.post("/training-logs/debug/clear", content=b"x" * 16_385)
    assert reply.status_code == 413
    assert ask.post("/training-logs/debug/clear", content=b"x" * 16_384).status_code == 200


def test_a_body_of_unknown_length_is_refused(ask):
    async def parts():
        yield b"x"

    assert ask.post("/training-logs/debug/clear", content=parts()).status_code == 411


@pytest.mark.parametrize("length", ["-1", "1e9", "9" * 5000, "\xb2"])
def test_a_length_that_is_none_is_refused(ask, length):
    headers = {b"Authorization": f"Bearer {TOKEN}".encode(), b"Content-Length": length.encode("latin-1")}
    assert ask.post("/training-logs/debug/clear", headers=headers).status_code == 413


def test_who_asks_too_often_waits_and_is_told_how_long(make):
    ask = make(limits=Limits(requests_per_second=0.5, burst=3))
    replies = asyncio.run(ask.many([("GET", "/runs", None, {})] * 4))
    assert [reply.status_code for reply in replies] == [200, 200, 200, 429]
    assert replies[-1].headers["retry-after"] == "2"


def test_who_has_no_token_cannot_use_up_what_others_may_ask(make):
    ask = make(limits=Limits(requests_per_second=0.1, burst=3))
    strangers = [("GET", "/runs", {}, {})] * 5
    replies = asyncio.run(ask.many([*strangers, ("GET", "/runs", None, {})]))
    assert [reply.status_code for reply in replies] == [401, 401, 401, 429, 429, 200]


def test_rates_flow_back_and_remember_few_clients():
    now = [0.0]
    rates = Rates(Limits(requests_per_second=2, burst=1, clients=3), clock=lambda: now[0])
    assert rates.wait("a") == 0
    assert rates.wait("a") == pytest.approx(0.5)
    now[0] += 0.5
    assert rates.wait("a") == 0
    for client in range(100):
        rates.wait(client)
    assert len(rates) == 3


def test_every_answer_forbids_a_browser_to_guess_to_run_and_to_keep(ask):
    for path, headers in (("/runs", None), ("/runs", {}), ("/nope", None), ("/runs/1/report", None)):
        reply = ask.get(path, headers=headers)
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["content-security-policy"].startswith("default-src 'none'")
        assert reply.headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in reply.headers


def test_a_page_of_another_origin_gets_no_leave(ask):
    headers = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    reply = ask("OPTIONS", "/training-logs/debug/clear", headers=headers)
    assert reply.status_code == 401
    assert not [name for name in reply.headers if name.startswith("access-control")]


def test_the_token_is_in_no_log_and_in_no_answer(ask, caplog):
    caplog.set_level(logging.DEBUG)
    said = [ask.get(path).text for method, path in PATHS if method == "GET"]
    ask.get(f"/events?token={TOKEN}", headers={})
    ours = [record.getMessage() for record in caplog.records if not record.name.startswith("httpx")]
    assert TOKEN not in "".join([*said, *ours])
