"""This file tests what is seen of averaged models whose batch norms are as they began."""

import gc
import weakref

import pytest
import torch
from torch import nn

from torchmagic.debuggers.watching import watch
from torchmagic.probes import first_statistics
from torchmagic.records.evaluation import FirstStatisticsRecord

SETUP = """
import copy
torch.manual_seed(0)
net, x = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1)), torch.randn(8, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
average = copy.deepcopy(net)
def step():
    net.train()
    opt.zero_grad()
    net(x).sum().backward()
    opt.step()
def follow(names=("parameters",)):
    for name in names:
        for own, new in zip(getattr(average, name)(), getattr(net, name)()):
            own.data.copy_(new.data)
def evaluate(model):
    model.eval()
    with torch.no_grad():
        return model(x)
"""


@pytest.fixture
def told(run_cell):
    def tell(source):
        run, _ = run_cell(SETUP + source, only=("gradients",))
        return run.of(FirstStatisticsRecord)

    return tell


def test_an_average_of_parameters_that_is_evaluated_twice_is_told(told):
    (record,) = told("for _ in range(3):\n    step()\n    follow()\n    evaluate(net)\n    evaluate(average)")
    assert (record.model, record.module, record.count, record.step) == ("average", "average.1", 1, 2)
    assert record.place.source == "return model(x)"


def test_an_average_that_is_evaluated_once_is_told_by_how_often_it_was_written_to(told):
    loop = (
        "for _ in range({}):\n    step()\n    with torch.no_grad():\n"
        "        for own, new in zip(average.parameters(), net.parameters()): own.lerp_(new, 0.1)\n"
    )
    (record,) = told(loop.format(8) + "evaluate(average)")
    assert record.step == 8
    assert told(loop.format(7) + "evaluate(average)") == []


@pytest.mark.parametrize(
    "loop",
    [
        "    step()\n    follow(('parameters', 'buffers'))\n    evaluate(average)",
        "    step()\n    evaluate(average)",  # which stays as it was
        "    step()\n    follow()\n    average.train()\n    average(x)\n    evaluate(average)",
        "    follow()\n    average[0].weight.data.mul_(0.9)\n    evaluate(average)",  # before the first step
        "    average[1].running_mean.fill_(2)\n    step()\n    follow()\n    evaluate(average)",  # as folding does
        "    net.eval()\n    opt.zero_grad()\n    net(x).sum().backward()\n    opt.step()\n    evaluate(net)",
        "    step()\n    follow()\n    average.eval()\n    average(x)",  # which may be learned from
    ],
)
def test_others_are_silent(told, loop):
    assert told("for _ in range(3):\n" + loop) == []


@pytest.mark.parametrize(
    ("limit", "before"), [("MOST_MODELS", "other = copy.deepcopy(average)\nevaluate(other)\n"), ("MOST_LOOKS", "")]
)
def test_models_and_looks_are_limited(told, monkeypatch, limit, before):
    monkeypatch.setattr(first_statistics, limit, 1)
    assert told(before + "for _ in range(3):\n    step()\n    follow()\n    evaluate(average)") == []


def test_what_is_written_before_the_first_step_is_silent(told):
    """A model may be built of others, or pruned, before it is trained."""
    writes = "for _ in range(9):\n    with torch.no_grad(): [each.mul_(0.9) for each in average.parameters()]\n"
    assert told(writes + "evaluate(average)\nstep()") == []
    assert len(told("step()\n" + writes + "evaluate(average)")) == 1


def test_statistics_that_are_counted_at_last_are_silent(told):
    loop = "for _ in range(3):\n    step()\n    follow()\n    evaluate(average)\n"
    assert told(loop + "torch.optim.swa_utils.update_bn([x], average)") == []


def test_norms_without_statistics_are_silent(told):
    change = "net[1], average[1] = [nn.BatchNorm1d(4, track_running_stats=False) for _ in range(2)]\n"
    assert told(change + "for _ in range(3):\n    step()\n    follow()\n    evaluate(average)") == []


def test_a_part_that_is_evaluated_has_its_whole_path(told):
    inside = "average = nn.ModuleDict({'body': average, 'head': nn.Linear(1, 1)})\nbody = average['body']\n"
    loop = "for _ in range(3):\n    step()\n    for own, new in zip(body.parameters(), net.parameters()):\n"
    (record,) = told(inside + loop + "        own.data.copy_(new.data)\n    evaluate(body)")
    assert (record.model, record.module) == ("average", "average.body.1")


def test_no_model_is_held():
    net, other = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)), nn.Linear(3, 1)
    opt = torch.optim.SGD(other.parameters(), lr=0.1)
    with watch():
        with torch.no_grad():
            given = net.eval()(torch.ones(2, 3)).sum()
        (other(torch.ones(2, 3)).sum() * given).backward()
        opt.step()
        gone = weakref.ref(net)
        del net
        gc.collect()
        assert gone() is None
