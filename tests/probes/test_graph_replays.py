"""This file tests that a device's graphs are captured as if nobody watched, and that the run says what it cannot see.

There is no device here on which work could be captured: functions stand in for what only such a device can do.
"""

import pytest
import torch
from torch import nn
from torch.nn import functional

from torchmagic.debuggers.watching import watch
from torchmagic.probes.capture_wrappers import GRAPHS
from torchmagic.records.compilation import GraphReplaysRecord
from torchmagic.records.note import FailureRecord, NoteRecord


@pytest.fixture(params=GRAPHS, ids=lambda kind: kind.__name__)
def kind(request, monkeypatch):
    """A kind of graph whose methods do nothing."""
    monkeypatch.setattr(request.param, "capture_begin", lambda *_, **__: None)
    monkeypatch.setattr(request.param, "capture_end", lambda _: None)
    monkeypatch.setattr(request.param, "replay", lambda _: None)
    return request.param


def parts():
    torch.manual_seed(0)
    net = nn.Linear(4, 3)
    return net, torch.optim.SGD(net.parameters(), lr=0.1), torch.randn(8, 4), torch.randint(3, (8,))


def step(net, opt, x, y):
    opt.zero_grad()
    loss = functional.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
    return loss


def test_nothing_is_told_while_work_is_captured(kind):
    net, opt, x, y = parts()
    with watch(save=False, level="expert") as run:
        for _ in range(3):
            step(net, opt, x, y)
        kind.capture_begin(None)
        step(net, opt, x, y)
        kind.capture_end(None)
        step(net, opt, x, y)
    assert run.steps == 4
    assert len(run.series("loss")[0]) == 4
    assert not run.of(FailureRecord)


def test_a_capture_that_did_not_begin_hides_nothing(kind, monkeypatch):
    def refused(graph):
        raise RuntimeError("no")

    monkeypatch.setattr(kind, "capture_begin", refused)
    net, opt, x, y = parts()
    with watch(save=False) as run:
        with pytest.raises(RuntimeError):
            kind.capture_begin(None)
        step(net, opt, x, y)
    assert run.steps == 1


def test_a_capture_that_failed_at_its_end_is_over(kind, monkeypatch):
    def refused(graph):
        raise RuntimeError("invalidated")

    monkeypatch.setattr(kind, "capture_end", refused)
    net, opt, x, y = parts()
    with watch(save=False) as run:
        kind.capture_begin(None)
        with pytest.raises(RuntimeError, match="invalidated"):
            kind.capture_end(None)
        step(net, opt, x, y)
    assert run.steps == 1


def test_torch_is_left_as_it_was(kind):
    before = kind.capture_begin, kind.capture_end, kind.replay
    with watch(save=False):
        assert kind.replay is not before[2]
    assert before == (kind.capture_begin, kind.capture_end, kind.replay)


def twice(replay=lambda: None):
    """Step twice after each backward, with something between them."""
    net, opt, x, y = parts()
    with watch(save=False) as run:
        for _ in range(12):
            step(net, opt, x, y)
            replay()
            opt.step()
    return run


def test_steps_whose_backward_may_be_replayed_are_not_judged(kind):
    run = twice(lambda: kind.replay(None))
    (record,) = run.of(GraphReplaysRecord)
    assert record.whole
    assert "kind.replay(None)" in record.place.source
    assert not run.findings
    (note,) = run.of(NoteRecord)
    assert note.text.startswith("A captured graph was replayed 12 times: nothing inside")


def test_the_same_steps_without_a_replay_are_judged():
    assert [finding.rule for finding in twice().findings] == ["double-step"]


def replayed_by(module, kind):
    """Replay a graph from a function of another module."""
    names = {"__name__": module, "kind": kind}
    exec("def replay():\n    kind.replay(None)", names)  # noqa: S102 - the module is what a frame says it is
    names["replay"]()


def test_a_graphed_callable_hides_its_modules_alone(kind):
    net, opt, x, y = parts()
    with watch(save=False) as run:
        for _ in range(3):
            replayed_by("torch.cuda.graphs", kind)
            step(net, opt, x, y)
    (record,) = run.of(GraphReplaysRecord)
    assert not record.whole
    (note,) = run.of(NoteRecord)
    assert "graphed callable" in note.text


def test_the_compilers_own_graphs_are_told_elsewhere(kind):
    with watch(save=False) as run:
        replayed_by("torch._inductor.cudagraph_trees", kind)
    assert not run.of(GraphReplaysRecord)
    assert not run.of(NoteRecord)
