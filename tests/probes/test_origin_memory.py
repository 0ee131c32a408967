"""This file tests what the memory of a step keeps alive, and that a step is run again all the same."""

import pytest

from torchmagic.probes.origin_memory import MOST_CALLS
from torchmagic.records.nonfinite import NonfiniteRecord

SETUP = """
import weakref
net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
refs = []
def alive():
    return sum(each() is not None for each in refs)
"""
STEP = """
opt.zero_grad()
F.cross_entropy(net(torch.randn(8, 4)), torch.randint(2, (8,))).backward()
opt.step()
"""


@pytest.mark.parametrize("before", ["", STEP])
def test_forwards_that_no_step_follows_keep_few_inputs(run_cell, before):
    source = """
    for _ in range(3 * 32):
        x = torch.randn(8, 4)
        refs.append(weakref.ref(x))
        net(x)
    del x
    left = alive()
    """
    _, names = run_cell(SETUP + before + source.replace("\n    ", "\n"))
    assert names["left"] <= MOST_CALLS


@pytest.mark.parametrize("before", ["", STEP])
def test_calls_that_raised_keep_nothing_once_the_next_one_begins(run_cell, before):
    source = """
    for size in (9, 8, 7, 6, 5, 4):
        x = torch.randn(8, size)
        refs.append(weakref.ref(x))
        try:
            loss = F.cross_entropy(net(x), torch.randint(2, (8,)))
        except RuntimeError:
            continue
    del x
    left = alive()
    loss.backward()
    opt.step()
    """
    _, names = run_cell(SETUP + before + source.replace("\n    ", "\n"))
    assert names["left"] == 1


def test_the_step_of_a_batch_that_was_tried_again_is_run_again(run_cell):
    source = """
    class Net(nn.Linear):
        def forward(self, x):
            return super().forward(x).log()
    net = Net(4, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for size in (5, 4):
        try:
            net(torch.ones(8, size)).sum().backward()
        except RuntimeError:
            continue
    opt.step()
    """
    run, _ = run_cell(source)
    (found,) = run.of(NonfiniteRecord)
    assert (found.op, found.proven) == ("log", True)
