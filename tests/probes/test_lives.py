"""This file tests whether models that begin anew are followed: built, initialised or loaded again."""

import pytest

from torchmagic.probes.lives import MANY_STEPS
from torchmagic.records.loop import RestartRecord

LOOP = """
from torch.utils.data import DataLoader, TensorDataset
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
data = TensorDataset(torch.randn(32, 3), torch.randn(32, 1))
loader = DataLoader(data, batch_size=8)
state = {{key: value.clone() for key, value in net.state_dict().items()}}
for epoch in range(4):
    {}
    for repeat in range({}):
        for x, y in loader:
            opt.zero_grad()
            F.mse_loss(net(x), y).backward()
            opt.step()
"""
BUILD = "net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))"
OPTIMIZER = "opt = torch.optim.SGD(net.parameters(), lr=0.01)"


def restarts(run_cell, *lines, passes=1):
    run, _ = run_cell(LOOP.format("\n    ".join(lines), passes))
    return run.of(RestartRecord)


@pytest.mark.parametrize(
    ("lines", "how", "lives"),
    [
        ((BUILD, OPTIMIZER), "built", 4),
        (("net.apply(lambda m: m.reset_parameters() if hasattr(m, 'reset_parameters') else None)",), "initialised", 3),
        (("for part in net[::2]: part.reset_parameters()",), "initialised", 3),
        (("for p in net.parameters(): nn.init.normal_(p)",), "initialised", 3),
        (("net.load_state_dict(state)",), "loaded", 3),
    ],
)
def test_every_way_of_beginning_anew_is_seen_at_its_line(run_cell, lines, how, lives):
    (record,) = restarts(run_cell, *lines)
    assert (record.model, record.how, record.lives) == ("net", how, lives)
    assert (record.most_passes, record.least_steps, record.same) == (1, 4, True)
    assert record.places[0].source == lines[0]


def test_more_passes_are_counted_up_to_the_second(run_cell):
    (record,) = restarts(run_cell, BUILD, OPTIMIZER, passes=3)
    assert record.most_passes >= 2


@pytest.mark.parametrize(
    "lines",
    [
        (BUILD, "opt = torch.optim.SGD(net.parameters(), lr=0.01 * (epoch + 1))"),
        (BUILD, OPTIMIZER, "loader = DataLoader(data, batch_size=8 + epoch)"),
        (
            BUILD,
            OPTIMIZER,
            "part = [i for i in range(32) if i % 4 != epoch]",
            "loader = DataLoader(torch.utils.data.Subset(data, part), batch_size=8)",
        ),
        (BUILD.replace("Tanh()", "LeakyReLU(0.1 * epoch)"), OPTIMIZER),
        ("net.load_state_dict({key: value + epoch for key, value in state.items()})",),
    ],
)
def test_lives_that_differ_are_told_so(run_cell, lines):
    (record,) = restarts(run_cell, *lines)
    assert not record.same


def test_seeds_and_members_that_are_kept_are_told(run_cell):
    (record,) = restarts(run_cell, "torch.manual_seed(epoch)", BUILD, OPTIMIZER)
    assert record.reseeded
    (record,) = restarts(run_cell, BUILD, OPTIMIZER, "kept = globals().setdefault('kept', []); kept.append(net)")
    assert record.alive == 4


@pytest.mark.parametrize("line", ["net.apply(lambda m: m.train())", "nn.Linear(3, 4).reset_parameters()", "pass"])
def test_other_calls_begin_no_life(run_cell, line):
    assert restarts(run_cell, line) == []


def test_steps_are_counted_while_nothing_else_is_looked_at(run_cell):
    run, _ = run_cell(LOOP.format(f"{BUILD}; {OPTIMIZER}", 1).replace("batch_size=8", "batch_size=1"))
    (record,) = run.of(RestartRecord)
    assert (record.lives, record.most_passes, record.least_steps, record.overlapping) == (4, 1, 32, False)


ENDLESS = """
for life in range(3):
    net = nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    for step in range({steps}):
        opt.zero_grad()
        F.mse_loss(net(torch.randn(4, 3)), torch.zeros(4, 1)).backward()
        opt.step()
"""


@pytest.mark.parametrize(("steps", "passes"), [(20, 1), (MANY_STEPS + 8, 0)])
def test_of_lives_that_are_followed_no_further_no_passes_are_told(steps, passes, run_cell):
    run, _ = run_cell(ENDLESS.format(steps=steps), level="basic")
    (record,) = run.of(RestartRecord)
    assert (record.most_passes, record.least_steps) == (passes, min(steps, MANY_STEPS))
