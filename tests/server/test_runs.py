"""Runs, their findings, series and reports over HTTP."""

import html
import json
import math
import re
import sqlite3

import pytest

from torchmagic.session.run import Run, Status
from torchmagic.session.session import Session


def test_the_list_has_the_newest_first(ask):
    told = ask.get("/runs").json()
    assert told["total"] == 2
    assert [(run["number"], run["name"], run["status"]) for run in told["runs"]] == [
        (2, "second", "running"),
        (1, "first", "ok"),
    ]
    first = told["runs"][1]
    assert (first["steps"], first["warnings"], first["infos"], first["here"]) == (20, 1, 1, True)
    assert first["loss"][0] == 1.0
    assert len(first["loss"]) == 20


def test_a_list_is_had_in_parts(ask):
    newest = ask.get("/runs?limit=1").json()["runs"]
    assert [run["number"] for run in newest] == [2]
    assert [run["number"] for run in ask.get("/runs?limit=1&before=2").json()["runs"]] == [1]


@pytest.mark.parametrize("which", ["1", "first", "-2"])
def test_a_run_is_looked_up_by_number_or_name(ask, which):
    told = ask.get(f"/runs/{which}").json()
    assert (told["name"], told["source"], told["metrics"]) == ("first", "loss.backward()", ["loss", "grad_norm"])
    assert told["settings"] == {"level": "basic", "budget": "Infinity"}


def test_a_run_is_looked_up_by_id_and_as_the_last_one(ask, session):
    assert ask.get(f"/runs/{session.runs[0].id}").json()["name"] == "first"
    assert ask.get("/runs/last").json()["name"] == "second"


@pytest.mark.parametrize(
    "which",
    [
        "nope",
        "99",
        "..%2F..%2Fetc%2Fpasswd",
        "%2Fetc%2Fpasswd",
        "%00",
        "1%20OR%201=1",
        "last.json",
        "\u0661\u0669\u0669",
    ],
)
def test_a_run_that_is_not_there_is_one_clear_line(ask, which):
    reply = ask.get(f"/runs/{which}")
    assert reply.status_code == 404
    assert "\n" not in reply.json()["error"]


def test_no_request_opens_a_file(ask, session, monkeypatch):
    ask.get("/runs/1")  # whatever is loaded on first use is
    opened = []
    monkeypatch.setattr("builtins.open", lambda *args, **_: opened.append(args))
    for path in ("/runs/..%2F..%2Fetc%2Fpasswd/report", "/runs/%2Fetc%2Fpasswd", "/runs/1/series/..%2F..%2Fx"):
        assert ask.get(path).status_code == 404
    assert not opened


def test_a_source_that_is_not_to_be_kept_is_not_told(ask, session):
    session.runs[0].settings["keep_source"] = False
    session.runs[0].name = ""
    told = ask.get("/runs/1").json()
    assert (told["source"], told["heading"]) == ("", "")
    assert ask.get("/runs").json()["runs"][1]["heading"] == ""


def test_findings_are_told_whole(ask):
    told = ask.get("/runs/1/findings").json()["findings"]
    assert [(each["rule"], each["severity"], each["step"]) for each in told] == [
        ("loss-spike", "warning", 7),
        ("plateau", "info", 7),
    ]
    assert told[0]["evidence"] == {"loss": "Infinity", "threshold": 10.0, "at": "line 3"}
    assert told[0]["causes"] == ["exploding-gradient"]
    assert ask.get("/runs/2/findings").json()["findings"] == []


def test_series_are_listed_with_their_subjects(ask):
    told = {each["metric"]: each for each in ask.get("/runs/1/series").json()["series"]}
    assert told["loss"] == {"metric": "loss", "points": 20, "num_subjects": 0, "subjects": []}
    assert told["grad_norm"]["subjects"] == ["net.0.weight", "net.0.bias"]


def test_a_series_of_the_whole_run_and_one_of_a_parameter(ask):
    loss = ask.get("/runs/1/series/loss").json()
    assert loss["steps"] == list(range(20))
    assert loss["values"][:2] == [1.0, 0.5]
    norms = ask.get("/runs/1/series/grad_norm?parameter=net.0.weight").json()
    assert norms["values"] == [0.5 + step for step in range(20)]
    assert ask.get("/runs/1/series/grad_norm").json()["values"] == [0.5] * 20


def test_a_series_is_thinned_to_what_was_asked_for(ask):
    told = ask.get("/runs/1/series/loss?points=7").json()
    assert len(told["steps"]) <= 7
    assert (told["steps"][0], told["steps"][-1], told["points"]) == (0, 19, 20)


@pytest.mark.parametrize(
    ("path", "status", "says"),
    [
        ("/runs/1/series/los", 404, "did you mean 'loss'?"),
        ("/runs/1/series/grad_norm?parameter=net.0.weigth", 404, "did you mean 'net.0.weight'?"),
        ("/runs/1/series/loss?parameter=x", 404, "it has none"),
        ("/runs/1/series/loss?points=1", 422, "points: "),
        ("/runs/1/series/loss?points=10001", 422, "points: "),
        ("/runs?limit=0", 422, "limit: "),
        ("/runs/" + "x" * 501, 422, "run: "),
        ("/nope", 404, "GET /openapi.json lists those that there are"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(ask, path, status, says):
    reply = ask.get(path)
    assert reply.status_code == status
    (line,) = reply.json().values()
    assert says in line
    assert "\n" not in line


def test_a_wrong_method_is_told_the_right_one(ask):
    reply = ask("DELETE", "/runs")
    assert (reply.status_code, reply.headers["allow"]) == (405, "GET")
    assert "this address takes GET" in reply.json()["error"]


def test_a_metric_of_parameters_alone_wants_one_of_them(ask, session):
    run = session.runs[0]
    run.frame("weight_norm", ("a", "b")).append(0, (1.0, 2.0))
    reply = ask.get("/runs/1/series/weight_norm")
    assert reply.status_code == 404
    assert "name one of 2, such as ?subject=a" in reply.json()["error"]


def test_numbers_that_are_none_are_told_by_name(ask, session):
    frame = session.runs[0].frame("eval_loss", ("",))
    for step, value in enumerate((math.nan, math.inf, -math.inf, 1.0)):
        frame.append(step, (value,))
    text = ask.get("/runs/1/series/eval_loss").text
    json.loads(text, parse_constant=pytest.fail)
    assert json.loads(text)["values"] == ["NaN", "Infinity", "-Infinity", 1.0]


def test_text_of_the_user_cannot_become_markup(ask, session):
    evil = "<script>alert(1)</script>"
    session.runs[0].name = session.runs[0].source = evil
    told = ask.get("/runs/1")
    assert told.headers["content-type"] == "application/json"
    assert told.json()["name"] == evil
    report = ask.get("/runs/1/report")
    assert report.headers["content-type"].startswith("text/html")
    assert evil not in report.text
    assert html.escape(evil) in report.text
    assert not re.search(r"<script", report.text)


def test_a_name_with_half_a_character_is_told(ask, session):
    session.runs[0].name = "bad \udc80 name"
    assert ask.get("/runs/1").json()["name"] == "bad \\udc80 name"
    assert ask.get("/runs/1/report").status_code == 200
    assert "bad \\\\udc80 name" in ask.get("/metrics").text


def test_a_store_is_told_as_the_process_is(make, stored):
    fresh = Session(stored.folder)
    ask = make(of=fresh, here=None, set_level=None, clear=None)
    told = ask.get("/runs").json()["runs"]
    assert [(run["name"], run["here"], run["saved"]) for run in told] == [
        ("under way", False, True),
        ("done", False, True),
    ]
    assert ask.get("/runs/1/series/loss").json()["steps"] == list(range(30))
    assert ask.get("/runs/last").json()["name"] == "under way"
    assert ask.get("/training-logs/debug/training/summary").json()["total_steps"] == 5
    for path in ("/training-logs/debug/level/basic", "/training-logs/debug/clear"):
        reply = ask.post(path)
        assert reply.status_code == 409
        assert "a store is served" in reply.json()["error"]
    assert len(fresh.history()) == 2


def test_a_store_that_is_damaged_is_one_line(make, stored):
    fresh = Session(stored.folder)
    ask = make(of=fresh, here=None, set_level=None, clear=None)
    run_id = ask.get("/runs/1").json()["id"]
    fresh = Session(stored.folder)
    ask = make(of=fresh, here=None)
    stored.close()
    with sqlite3.connect(fresh.path) as db:
        db.execute("UPDATE run SET header = 'no json' WHERE id = ?", (run_id,))
    db.close()
    reply = ask.get("/runs/1")
    assert reply.status_code == 503
    assert "cannot be read" in reply.json()["error"]


def test_stored_runs_are_read_once_while_they_are_looked_at(make, stored):
    fresh = Session(stored.folder)
    reads = []

    def read(which):
        reads.append(which)
        return fresh.get(which)

    ask = make(of=fresh, here=None, read=read)
    for path in ("", "/findings", "/series", "/series/loss"):
        assert ask.get(f"/runs/1{path}").status_code == 200
    assert len(reads) == 1


def test_our_own_failure_is_one_line_as_well(make, session):
    def history():
        raise ZeroDivisionError("of ours")

    reply = make(history=history).get("/runs")
    assert reply.status_code == 500
    assert reply.json() == {"error": "torchmagic failed to answer (ZeroDivisionError: of ours); the process goes on"}


def test_a_run_without_any_series_says_so(ask, session):
    session.add(Run(name="empty"))
    session.runs[-1].status = Status.OK
    assert ask.get("/runs/empty/series").json()["series"] == []
    assert "no other one yet" in ask.get("/runs/empty/series/loss").json()["error"]


@pytest.mark.parametrize(
    ("address", "line"),
    [
        ("/runs?limt=5&before=1", "the query has 'limt'; this address takes limit, before"),
        ("/runs?before=1&=false", "the query has ''; this address takes limit, before"),
        ("/runs/1/findings?full=1", "the query has 'full'; this address takes none; leave it out"),
    ],
)
def test_a_name_that_the_address_does_not_take_is_refused_in_one_line(ask, address, line):
    answer = ask.get(address)
    assert (answer.status_code, answer.json()) == (422, {"error": line})
