"""What the server costs a training: none of it runs on the training's thread, and it looks at what is new alone."""

import asyncio
import sys
import threading
from contextlib import aclosing, suppress
from functools import partial
from pathlib import Path

import httpx

import torchmagic
import torchmagic.server
from torchmagic.records.series import Frame
from torchmagic.server.events import News
from torchmagic.server.limits import Limits
from torchmagic.server.reading import Reader
from torchmagic.server.served import NoDebuggers, Served
from torchmagic.server.standing import TOLD
from torchmagic.server.streams import Streams
from torchmagic.session.run import Run

SERVER = str(Path(torchmagic.server.__file__).parent)
PATIENCE = 60


def reader_of(runs, looks=None):
    """A reader of runs of this process; each time that it asks for them is noted."""

    def here():
        if looks is not None:
            looks.append(len(runs))
        return tuple(runs)

    return Reader(Served(history=list, read={}.__getitem__, here=here, debuggers=NoDebuggers()))


def stepped(run, times):
    for _ in range(times):
        run.frame("loss", ("",)).append(run.steps, (0.5,))
        run.frame("grad_norm", ("",)).append(run.steps, (0.25,))
        run.frame("weight_norm", tuple(f"p{number}" for number in range(50))).append(run.steps, (1.0,) * 50)
        run.steps += 1


def test_nothing_of_the_server_runs_on_the_thread_that_trains(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torchmagic.session.folder = tmp_path
    import torch  # noqa: PLC0415 - no other test here needs it

    model, ran, heard, begun, stepping = torch.nn.Linear(2, 1), set(), [], threading.Event(), threading.Event()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def listen(server):
        with httpx.stream("GET", f"{server.url}/events?token={server.token}", trust_env=False, timeout=300) as reply:
            for line in reply.iter_lines():
                begun.set()
                if line.startswith("event: step"):
                    heard.append(line)
                    stepping.set()

    def step():
        optimizer.zero_grad()
        model(torch.ones(8, 2)).square().mean().backward()
        optimizer.step()

    with torchmagic.serve(limits=Limits(look_seconds=0.01)) as server:
        listener = threading.Thread(target=partial(listen, server))
        listener.start()
        assert begun.wait(PATIENCE)
        sys.setprofile(lambda frame, event, _: ran.add(frame.f_code.co_filename) if event == "call" else None)
        try:
            with torchmagic.watch(name="heard", level="basic", save=False):
                for _ in range(20):
                    step()
                assert stepping.wait(PATIENCE)  # the training is told of while it goes on
                step()
        finally:
            sys.setprofile(None)
    listener.join(PATIENCE)
    torchmagic.session.clear()
    torchmagic.session.folder = None
    assert heard
    assert any(name.endswith("probes/taps.py") for name in ran)
    assert [name for name in ran if name.startswith(SERVER)] == []


def test_runs_are_asked_for_only_while_somebody_listens_and_once_a_look_for_all():
    run, looks, turns = Run(), [], []
    stepped(run, 3)

    class Counted(News):
        def look(self):
            turns.append(1)
            return super().look()

    async def listen(streams, *, until):
        async with aclosing(streams.listen()) as stream:
            async for _ in stream:
                if until():
                    return

    async def go():
        streams = Streams(
            Counted(reader_of([run], looks)), Limits(look_seconds=0.001, heartbeat_seconds=0.001), in_thread=False
        )
        await asyncio.sleep(0.02)
        alone = len(looks)
        await asyncio.gather(*(listen(streams, until=lambda: len(turns) > 5) for _ in range(4)))
        with suppress(asyncio.CancelledError):
            await streams._looking
        heard = len(turns), len(looks)
        stepped(run, 100)
        await asyncio.sleep(0.02)
        return alone, heard, (len(turns), len(looks))

    alone, (turned, looked), after = asyncio.run(go())
    assert alone == 0
    assert 5 < turned < 5 + 10  # four who listen share each look
    assert looked <= 3 * (turned + 1)
    assert after == (turned, looked)


def test_a_look_reads_the_rows_that_came_since_the_last_one_and_no_wide_columns(monkeypatch):
    read, original = [], Frame.rows_since

    def rows_since(frame, start):
        found = original(frame, start)
        read.append((frame.metric, len(frame.subjects), len(found[0]) // 8))
        return found

    run = Run()
    stepped(run, 5000)
    news = News(reader_of([run]))
    news.begin()
    news.look()
    monkeypatch.setattr(Frame, "rows_since", rows_since)
    news.look()
    assert [rows for _, _, rows in read] == [0, 0]
    read.clear()
    stepped(run, 3)
    assert len(news.look()) == 3
    assert sorted(read) == [("grad_norm", 1, 3), ("loss", 1, 3)]
    assert {"grad_norm", "loss"} <= set(TOLD)
