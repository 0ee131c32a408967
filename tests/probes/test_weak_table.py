"""This file tests the table whose objects leave it without a line of Python, in which an interrupt would be lost."""

import gc
import sys
import weakref

import torch
from torch import nn

from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch
from torchmagic.probes.weak_table import WeakTable
from torchmagic.session.session import Session


class Thing:
    """Has no hash, and says that it equals all others."""

    __hash__ = None

    def __eq__(self, other):
        return True


def train(epochs=3, steps=64):
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    data = torch.utils.data.TensorDataset(torch.randn(8 * steps, 4), torch.randn(8 * steps, 1))
    for _ in range(epochs):
        opt = torch.optim.Adam(net.parameters())
        for x, y in torch.utils.data.DataLoader(data, batch_size=8):
            opt.zero_grad()
            nn.functional.mse_loss(net(x), y).backward()
            opt.step()


def test_values_go_by_identity_and_die_with_their_objects():
    table, one, other = WeakTable(), Thing(), Thing()
    table[one], table[other] = "one", "other"
    table[one] = "one again"
    assert (table.get(one), table.get(other)) == ("one again", "other")
    assert [value for _, value in table.items()] == ["one again", "other"]
    del one
    assert len(table) == 1
    assert other in table
    table.clear()
    del other
    assert not table.items()


def lines_run_for_what_died(work):
    """Returns the Python functions that were called because an object was gone, in `work` and in what it leaves."""
    seen = []

    def look(frame, event, _):
        code = frame.f_code
        given = [frame.f_locals.get(name) for name in code.co_varnames[: code.co_argcount]]
        if event == "call" and any(isinstance(each, weakref.ref) and each() is None for each in given):
            seen.append(code.co_qualname)

    gc.collect()  # what others have left is none of this
    sys.setprofile(look)
    try:
        work()
        gc.collect()
    finally:
        sys.setprofile(None)
    return seen


def watched():
    with Watch(Settings(save=False), session=Session()):
        train()


def test_no_line_of_python_runs_for_what_dies_in_a_run_and_after_it():
    watched()  # what is imported at first is another matter
    # Once a process has compiled a model, torch itself notes each module that begins there.
    assert lines_run_for_what_died(watched) == lines_run_for_what_died(train)


def test_nor_where_a_model_was_compiled_before():
    torch.compile(nn.Linear(2, 2), backend="eager")(torch.ones(1, 2))
    try:
        watched()
        assert lines_run_for_what_died(watched) == lines_run_for_what_died(train)
    finally:
        torch._dynamo.reset()
