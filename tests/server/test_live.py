"""The event stream and the metrics: what goes on, told without touching it."""

import asyncio
import json
import math
import threading
import time
from contextlib import aclosing

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

import torchmagic
from torchmagic.server.events import News, event
from torchmagic.server.limits import Limits
from torchmagic.server.reading import Reader
from torchmagic.server.served import NoDebuggers, Served
from torchmagic.server.streams import Streams
from torchmagic.session.run import Run, Status
from torchmagic.session.session import Session


def told(lines):
    """The events of lines, as (kind, data)."""
    blocks = [block.split("\n") for block in "".join(lines).split("\n\n") if block.startswith("event: ")]
    return [(kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for kind, data in blocks]


def reader_of(runs):
    return Reader(Served(history=list, read={}.__getitem__, here=lambda: tuple(runs), debuggers=NoDebuggers()))


class Training:
    """A run that goes on."""

    def __init__(self, name=""):
        self.run = Run(name=name)

    def step(self, loss=1.0, times=1):
        for _ in range(times):
            self.run.frame("loss", ("",)).append(self.run.steps, (loss,))
            self.run.frame("weight_norm", tuple(f"p{i}" for i in range(9))).append(self.run.steps, (1.0,) * 9)
            self.run.steps += 1

    def end(self):
        self.run.status = Status.OK


def test_what_was_there_before_is_not_news(session):
    news = News(reader_of(session.runs))
    news.begin()
    assert news.look() == []
    assert [(kind, data["name"]) for kind, data in told(news.open())] == [("opened", "second")]


def test_runs_open_step_find_and_close(session):
    runs, training = [], Training("mine")
    news = News(reader_of(runs))
    news.begin()
    training.step()
    runs.append(training.run)
    assert [kind for kind, _ in told(news.look())] == ["opened", "step"]
    training.step(0.5)
    training.step(math.nan)
    steps = told(news.look())
    assert [(kind, data["step"], data["values"]) for kind, data in steps] == [
        ("step", 1, {"loss": 0.5}),
        ("step", 2, {"loss": "NaN"}),
    ]
    training.run.findings = session.runs[0].findings[:1]
    ((kind, data),) = told(news.look())
    assert (kind, data["rule"], data["evidence"]["loss"]) == ("finding", "loss-spike", "Infinity")
    training.step(0.25)
    training.end()
    (last,) = told(news.look())
    assert (last[1]["step"], last[1]["values"]) == (3, {"loss": 0.25})
    training.run.findings = session.runs[0].findings  # the last judgement comes after the status
    assert [kind for kind, _ in told(news.look())] == ["finding"]
    ((kind, closed),) = told(news.look())
    assert (kind, closed["status"], closed["steps"]) == ("closed", "ok", 4)
    assert closed["findings"] == {"error": 0, "warning": 1, "info": 1}
    assert news.look() == news.open() == []


def test_a_run_that_came_and_went_between_two_looks_is_told_whole(session):
    runs, training = [], Training("quick")
    news = News(reader_of(runs))
    news.begin()
    training.step(times=3)
    training.run.findings = session.runs[0].findings[:1]
    training.end()
    runs.append(training.run)
    events = told([*news.look(), *news.look(), *news.look()])
    assert [kind for kind, _ in events] == ["opened", "step", "step", "step", "finding", "closed"]
    assert news.look() == []


def test_a_run_that_comes_into_sight_again_is_no_news():
    runs = [Training(str(number)).run for number in range(30)]
    for run in runs:
        run.status = Status.OK
    news = News(reader_of(runs))
    news.begin()
    del runs[20:]
    assert news.look() == []


def test_rows_of_the_step_that_goes_on_wait_for_its_end():
    training = Training()
    news = News(reader_of([training.run]))
    news.begin()
    training.run.frame("loss", ("",)).append(0, (3.0,))
    assert news.look() == []
    training.run.steps = 1
    assert [data["values"] for _, data in told(news.look())] == [{"loss": 3.0}]


def test_of_many_steps_the_newest_are_told_and_the_others_counted():
    training = Training()
    news = News(reader_of([training.run]))
    news.begin()
    training.step(times=1000)
    steps = [data for _, data in told(news.look())]
    assert len(steps) == 16
    assert sum(1 + data["skipped"] for data in steps) == 1000
    assert steps[-1]["step"] == 999


def test_steps_without_any_values_are_counted_too():
    run = Run()
    news = News(reader_of([run]))
    news.begin()
    run.steps = 7
    ((kind, data),) = told(news.look())
    assert (kind, data["step"], data["skipped"], data["values"]) == ("step", 6, 6, {})


def test_runs_that_the_session_forgot_are_let_go(session):
    news = News(reader_of(session.runs))
    news.begin()
    session.runs.clear()
    assert news.look() == []
    assert news.open() == []


def test_an_event_is_one_line_whatever_is_in_it():
    line = event("step", {"name": "a\nevent: evil\r\ndata: x"})
    assert line.count("\n") == 3
    assert told([line])[0][1]["name"] == "a\nevent: evil\r\ndata: x"


async def collected(streams, *, until, slowly=False):
    lines = []
    async with aclosing(streams.listen()) as stream:
        async for line in stream:
            lines.append(line)
            if until(lines):
                break
            if slowly:
                await asyncio.sleep(0.05)
    return lines


def streams_of(runs, **limits):
    return Streams(News(reader_of(runs)), Limits(look_seconds=0.01, **limits), in_thread=False)


def test_a_slow_client_loses_steps_and_is_told_how_many():
    async def go():
        training = Training()
        streams = streams_of([training.run], queued_events=8)
        waiting = asyncio.create_task(
            collected(streams, until=lambda lines: any("event: lost" in line for line in lines), slowly=True)
        )
        for _ in range(200):
            training.step(times=3)
            await asyncio.sleep(0.005)
            if waiting.done():
                break
        return await asyncio.wait_for(waiting, 10)

    kinds, data = zip(*told(asyncio.run(go())), strict=True)
    assert data[kinds.index("lost")]["events"] > 0
    assert set(kinds[kinds.index("lost") + 1 :]) == {"step"}  # what was not lost follows


def test_nobody_looks_while_nobody_listens(session):
    async def go():
        streams = streams_of(session.runs, stream_seconds=0.05)
        await collected(streams, until=lambda _: False)
        await asyncio.sleep(0.05)
        return [task for task in asyncio.all_tasks() if task is not asyncio.current_task()], streams

    tasks, streams = asyncio.run(go())
    assert tasks == []
    assert streams.has_room
    assert streams._news.open() == []


def test_a_stream_beats_while_nothing_happens_and_ends_with_the_server(session):
    async def go():
        streams = streams_of(session.runs, heartbeat_seconds=0.02)
        waiting = asyncio.create_task(collected(streams, until=lambda _: False))
        await asyncio.sleep(0.2)
        streams.close()
        lines = await asyncio.wait_for(waiting, 1)
        return lines, streams.has_room

    lines, has_room = asyncio.run(go())
    assert lines[0].startswith("retry: 2000\n\n")
    assert lines.count(": still here\n\n") >= 2
    assert not has_room


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_streams_whose_look_fails_end_and_the_next_ones_begin_anew():
    async def go():
        training = Training()
        runs = [training.run]
        streams = streams_of(runs)
        waiting = asyncio.create_task(collected(streams, until=lambda _: False))
        await asyncio.sleep(0.05)
        training.run.findings = ("no finding",)  # of a probe that went mad
        await asyncio.wait_for(waiting, 5)
        failure = streams._looking.exception()
        runs[:] = [Training("next").run]
        lines = await collected(streams, until=lambda lines: "next" in "".join(lines))
        streams.close()
        return failure, lines

    failure, lines = asyncio.run(go())
    assert isinstance(failure, AttributeError)
    assert told(lines)[0][1]["name"] == "next"


def test_only_so_many_may_listen(make):
    ask = make(limits=Limits(streams=0, stream_seconds=0.05))
    reply = ask.get("/events")
    assert reply.status_code == 503
    assert "close one" in reply.json()["error"]


def test_the_stream_is_one_of_events(ask):
    reply = ask.get("/events")
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert [(kind, data["name"]) for kind, data in told([reply.text])] == [("opened", "second")]


def test_a_store_is_streamed_from_what_is_written(make, stored):
    ask = make(
        of=Session(stored.folder), here=None, limits=Limits(burst=100, stream_seconds=1.0, store_look_seconds=0.05)
    )

    def go_on():
        time.sleep(0.3)
        run = stored.runs[-1]
        run.frame("loss", ("",)).append(5, (0.125,))
        run.steps = 6
        stored.write(run, final=True)
        run.status = Status.OK
        stored.write(run, final=True)

    thread = threading.Thread(target=go_on)
    thread.start()
    events = told([ask.get("/events").text])
    thread.join()
    assert events[0][0] == "opened"
    assert ("step", {"loss": 0.125}) in [(kind, data.get("values")) for kind, data in events]
    assert (events[-1][0], events[-1][1]["status"]) == ("closed", "ok")


def test_metrics_are_read_by_prometheus_itself(ask, session):
    evil = 'a "b"\\n\n} 1\nevil 1'
    session.runs[0].name = evil
    session.runs[0].frame("eval_loss", (evil,)).append(3, (math.inf,))
    reply = ask.get("/metrics")
    assert reply.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    families = {family.name: family for family in text_string_to_metric_families(reply.text)}
    assert all(name.startswith("torchmagic_run_") for name in families)
    samples = {
        (sample.name, sample.labels["name"], sample.labels.get("metric"), sample.labels.get("subject")): sample.value
        for family in families.values()
        for sample in family.samples
    }
    assert samples["torchmagic_run_steps_total", evil, None, None] == 20
    assert samples["torchmagic_run_value", evil, "loss", ""] == pytest.approx(1 / 20)
    assert samples["torchmagic_run_value", evil, "eval_loss", evil] == math.inf
    assert samples["torchmagic_run_running", "second", None, None] == 1
    assert families["torchmagic_run_steps"].type == "counter"


def test_metrics_tell_the_newest_runs_and_all_that_go_on(ask, session):
    for number in range(30):
        run = Run(name=f"old {number}")
        run.status = Status.OK
        session.add(run)
    names = {
        sample.labels["name"]
        for family in text_string_to_metric_families(ask.get("/metrics").text)
        for sample in family.samples
    }
    assert names == {"second", *(f"old {number}" for number in range(10, 30))}


def test_a_browsers_event_source_hears_a_real_training(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torchmagic.session.folder = tmp_path
    with torchmagic.serve() as server:
        heard = []

        def listen():
            with httpx.stream(
                "GET", f"{server.url}/events?token={server.token}", trust_env=False, timeout=300
            ) as reply:
                for line in reply.iter_lines():
                    heard.append(line)
                    if line.startswith("data") and '"status": "ok"' in line:
                        return

        listener = threading.Thread(target=listen)
        listener.start()
        while not heard:
            time.sleep(0.01)
        import torch  # noqa: PLC0415 - no other test here needs it

        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        with torchmagic.watch(name="heard", level="basic") as run:
            for _ in range(40):
                optimizer.zero_grad()
                model(torch.ones(8, 2)).square().mean().backward()
                optimizer.step()
                time.sleep(0.02)
        listener.join(20)
    kinds = told(["\n".join(heard) + "\n\n"])
    assert (kinds[0][0], kinds[0][1]["name"], kinds[-1][0]) == ("opened", "heard", "closed")
    steps = [data for kind, data in kinds if kind == "step"]
    assert kinds[-1][1]["steps"] == run.steps == 40
    losses = dict(zip(*run.series("loss"), strict=True))
    assert all(data["values"]["loss"] == losses[data["step"]] for data in steps)
    assert "lr" in steps[-1]["values"] or "grad_norm" in steps[-1]["values"]
    torchmagic.session.clear()
    torchmagic.session.folder = None
