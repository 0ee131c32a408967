"""A server is started, reached over the loopback, stopped, and leaves nothing behind."""

import builtins
import logging
import os
import socket
import sys
import threading
import time
import warnings

import httpx
import pytest

import torchmagic
from torchmagic.api import one_server
from torchmagic.api.serving import serve_store
from torchmagic.server.limits import Limits
from torchmagic.session.session import Session


@pytest.fixture(autouse=True)
def folder(tmp_path):
    torchmagic.session.folder = tmp_path
    yield tmp_path
    one_server.end()
    torchmagic.session.clear()
    torchmagic.session.folder = None


def get(server, path, *, token=None, **more):
    headers = {"Authorization": f"Bearer {token or server.token}"}
    return httpx.get(server.url + path, headers=headers, trust_env=False, timeout=300, **more)


def threads():
    return {thread.name for thread in threading.enumerate()}


def are_gone(before):
    """Tell whether no other thread is left; one that was told to end may take a moment."""
    deadline = time.monotonic() + 60
    while not threads() <= before and time.monotonic() < deadline:
        time.sleep(0.01)
    return threads() <= before


def test_it_answers_until_it_is_stopped_and_leaves_no_thread_and_no_port():
    before = threads()
    with torchmagic.serve() as server:
        assert server.is_running
        assert server.host == "127.0.0.1"
        assert get(server, "/runs").status_code == 200
        assert get(server, "/runs", token="wrong" * 5).status_code == 401
    assert not server.is_running
    assert repr(server).endswith(", stopped>")
    assert are_gone(before)
    with pytest.raises(httpx.ConnectError):
        get(server, "/runs")
    server.stop()
    with socket.socket() as other:
        other.bind(("127.0.0.1", server.port))


def test_the_token_is_long_new_each_time_and_not_in_the_repr():
    with torchmagic.serve() as one, torchmagic.serve() as other:
        assert len(one.token) >= 43
        assert one.token != other.token
        assert one.token not in repr(one) + one.url
        assert get(one, "/runs", token=other.token).status_code == 401


def test_an_answer_comes_at_once():
    with torchmagic.serve() as server, httpx.Client(trust_env=False) as client:
        headers = {"Authorization": f"Bearer {server.token}"}
        client.get(f"{server.url}/metrics", headers=headers)
        took = []
        for _ in range(15):
            began = time.perf_counter()
            client.get(f"{server.url}/metrics", headers=headers)
            took.append(time.perf_counter() - began)
    assert sorted(took)[5] < 0.03  # were answers to wait for acknowledgements, each would take 0.04 s


def test_a_stream_is_written_to_no_log(caplog):
    caplog.set_level(logging.DEBUG)
    before = {name: logging.getLogger(name).handlers[:] for name in ("uvicorn", "uvicorn.access", "uvicorn.error")}
    with torchmagic.serve(limits=Limits(stream_seconds=0.05)) as server:
        client = httpx.get(f"{server.url}/events?token={server.token}", trust_env=False)
        assert client.status_code == 200
    theirs = ("httpx", "httpcore")
    said = [each.getMessage() for each in caplog.records if not each.name.startswith(theirs)]
    assert server.token not in " ".join(said)
    assert not any(each.name == "uvicorn.access" for each in caplog.records)
    for name, handlers in before.items():
        assert logging.getLogger(name).handlers == handlers
        assert logging.getLogger(name).propagate


def test_a_port_that_is_taken_is_one_line():
    with torchmagic.serve() as server, pytest.raises(OSError, match=rf"port {server.port} of this machine .* 0 for a"):
        torchmagic.serve(server.port)


@pytest.mark.parametrize("port", [-1, 65_536, "x", 1.5])
def test_a_port_that_is_none_is_one_line(port):
    with pytest.raises(ValueError, match="port is 0 to 65,535"):
        torchmagic.serve(port)


@pytest.mark.parametrize("token", ["short", "with a space in it", "längere-als-sechzehn", "tab\tin-the-middle-of"])
def test_a_weak_or_broken_token_is_refused(token):
    with pytest.raises(ValueError, match="a token is 16 or more"):
        torchmagic.serve(token=token)


def test_a_token_of_ones_own_is_taken():
    mine = "sixteen-letters-or-more"
    with torchmagic.serve(token=mine) as server:
        assert get(server, "/runs", token=mine).status_code == 200


def test_others_are_let_in_only_when_asked_for_and_with_a_warning():
    with pytest.warns(UserWarning, match=r"answers on 0\.0\.0\.0 now"):
        server = torchmagic.serve(host="0.0.0.0")  # noqa: S104 - what is warned of
    with server, warnings.catch_warnings():
        assert httpx.get(f"http://127.0.0.1:{server.port}/runs", trust_env=False).status_code == 401


def test_without_the_extra_one_line_says_how_to_get_it(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("torchmagic.server.")]:
        monkeypatch.delitem(sys.modules, name)
    real = builtins.__import__

    def refuse(name, *args, **more):
        if name.partition(".")[0] in ("fastapi", "uvicorn", "starlette"):
            raise ImportError(f"No module named {name!r}")
        return real(name, *args, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ValueError, match=r'pip install "torchmagic\[server\]"') as told:
        torchmagic.serve()
    assert "\n" not in str(told.value)


def test_a_client_that_hangs_on_a_stream_does_not_hold_up_the_stop():
    with torchmagic.serve() as server:
        with httpx.stream("GET", f"{server.url}/events?token={server.token}", trust_env=False) as reply:
            lines = reply.iter_lines()
            next(lines)
            began = time.perf_counter()
            server.stop()
            assert time.perf_counter() - began < 3
            assert list(lines)[-1:] in ([], [""])
        assert not server.is_running


def test_a_stream_that_was_left_gives_its_place_to_the_next():
    with torchmagic.serve(limits=Limits(streams=1, look_seconds=0.05)) as server:
        url = f"{server.url}/events?token={server.token}"
        with httpx.stream("GET", url, trust_env=False) as reply:
            lines = reply.iter_lines()  # held: a stream whose reader is gone is closed
            next(lines)
            assert get(server, "/events").status_code == 503
        for _ in range(100):
            with httpx.stream("GET", url, trust_env=False) as reply:
                if reply.status_code == 200:
                    break
            time.sleep(0.05)
        else:
            pytest.fail("the place was never given back")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_server_that_cannot_begin_says_so_and_lets_the_port_go(monkeypatch):
    async def fails(_self, sockets=None):
        raise SystemExit(3)

    monkeypatch.setattr("uvicorn.Server.startup", fails)
    before = threads()
    with pytest.raises(OSError, match="did not begin to answer"):
        torchmagic.serve()
    assert are_gone(before)


def test_raw_nonsense_does_not_stop_it():
    with torchmagic.serve() as server:
        for nonsense in (b"\x16\x03\x01\x02\x00", b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", b"\r\n" * 10):
            with socket.create_connection((server.host, server.port), timeout=60) as raw:
                raw.sendall(nonsense)
                raw.settimeout(5)
                try:
                    reply = raw.recv(1000)
                except (TimeoutError, ConnectionError):
                    reply = b""
                assert b"200" not in reply[:20]
        assert get(server, "/runs").status_code == 200


def test_a_connection_too_many_is_refused():
    with torchmagic.serve(limits=Limits(connections=2)) as server:
        idle = [socket.create_connection((server.host, server.port)) for _ in range(3)]
        time.sleep(0.1)
        assert get(server, "/runs").status_code == 503
        for each in idle:
            each.close()
        time.sleep(0.1)
        assert get(server, "/runs").status_code == 200


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_worker_does_not_keep_the_port():
    with torchmagic.serve() as server:
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.close(writing)
            os.read(reading, 1)  # until the parent is done
            os._exit(0)
        assert get(server, "/runs").status_code == 200
    try:
        with socket.socket() as other:
            other.bind(("127.0.0.1", server.port))
    finally:
        os.write(writing, b"x")
        os.waitpid(child, 0)
        os.close(reading)
        os.close(writing)


def test_a_store_without_runs_is_one_line(tmp_path):
    with pytest.raises(ValueError, match="there is no store at"):
        serve_store(tmp_path / "elsewhere")


def test_a_store_is_served(stored):
    with serve_store(stored.folder) as server:
        assert get(server, "/runs/done/series/loss?points=5").json()["points"] == 30
    assert isinstance(stored, Session)
