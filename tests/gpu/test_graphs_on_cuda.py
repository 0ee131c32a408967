"""This file tests trainings on CUDA whose work is captured in graphs: they run as if nobody watched."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from torchmagic.debuggers.watching import watch
from torchmagic.records.compilation import GraphReplaysRecord
from torchmagic.records.note import FailureRecord

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
    # of torch's own: the first product of a process, and a capture after a training on another stream
    pytest.mark.filterwarnings("ignore:.*no current CUDA context.*"),
    pytest.mark.filterwarnings("ignore:.*AccumulateGrad node's stream.*"),
]
LEVELS = ["basic", "intermediate", "advanced", "expert"]


def parts():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 4)).cuda()
    opt = torch.optim.Adam(net.parameters(), lr=1e-2, capturable=True)
    x, y = torch.randn(32, 16, device="cuda"), torch.randint(4, (32,), device="cuda")
    return net, opt, x, y


def whole_step():
    """Capture a whole step, after a warm-up beside the main stream, and replay it."""
    net, opt, x, y = parts()

    def step():
        opt.zero_grad(set_to_none=True)
        loss = functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        return loss

    beside = torch.cuda.Stream()
    beside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(beside):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(beside)
    graph = torch.cuda.CUDAGraph()
    opt.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        loss = step()
    for _ in range(20):
        graph.replay()
    return [loss.detach().clone(), *(each.detach().clone() for each in net.parameters())]


def without_the_step():
    """Capture forward and backward, and step outside the graph."""
    net, opt, x, y = parts()
    beside = torch.cuda.Stream()
    beside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(beside):
        for _ in range(3):
            opt.zero_grad(set_to_none=True)
            functional.cross_entropy(net(x), y).backward()
    torch.cuda.current_stream().wait_stream(beside)
    graph = torch.cuda.CUDAGraph()
    opt.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        loss = functional.cross_entropy(net(x), y)
        loss.backward()
    for _ in range(20):
        graph.replay()
        opt.step()
    return [loss.detach().clone(), *(each.detach().clone() for each in net.parameters())]


def graphed_callable():
    """Train a module that torch made a graphed callable."""
    net, opt, x, y = parts()
    graphed = torch.cuda.make_graphed_callables(net, (x,))
    for _ in range(20):
        opt.zero_grad(set_to_none=True)
        loss = functional.cross_entropy(graphed(x), y)
        loss.backward()
        opt.step()
    return [loss.detach().clone(), *(each.detach().clone() for each in net.parameters())]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("training", [whole_step, without_the_step, graphed_callable])
def test_a_captured_training_has_the_same_bits_and_no_false_alarm(training, level):
    bare = training()
    with watch(save=False, level=level) as run:
        watched = training()
    assert all(torch.equal(one, other) for one, other in zip(bare, watched, strict=True))
    assert not run.of(FailureRecord)
    assert not run.findings
    assert [record.whole for record in run.of(GraphReplaysRecord)] == [training is not graphed_callable]
