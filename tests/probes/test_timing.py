"""This file tests the split of time, by counts and sums, not by the speed of the machine."""

import time

import pytest

from torchmagic.analyses.time_split import PHASES, time_split
from torchmagic.probes.cast import Cast

LOOP = """
from torch.utils.data import DataLoader, TensorDataset
net = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.Adam(net.parameters())
loader = DataLoader(TensorDataset(torch.randn(128, 16), torch.randn(128, 1)), batch_size=8)
for x, y in loader:
    opt.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    opt.step()
"""


def test_each_step_has_a_row_of_phases(run_cell):
    run, _ = run_cell(LOOP)
    for phase in PHASES:
        steps, seconds = run.series("seconds", name=phase)
        assert steps[:16] == list(range(16))
        assert min(seconds) >= 0


def test_the_phases_and_the_watch_itself_add_up_to_the_wall_time(run_cell):
    run, _ = run_cell(LOOP)
    assert sum(time_split(run).values()) == pytest.approx(run.clock.seconds, rel=0.05)


def test_every_phase_of_a_usual_loop_took_time(run_cell):
    run, _ = run_cell(LOOP)
    assert all(seconds > 0 for seconds in time_split(run).values())


def test_a_closure_is_not_counted_twice(run_cell):
    run, _ = run_cell(
        """
        net = nn.Linear(8, 1)
        opt = torch.optim.LBFGS(net.parameters(), max_iter=10)
        x, y = torch.randn(64, 8), torch.randn(64, 1)
        def closure():
            opt.zero_grad()
            loss = F.mse_loss(net(x), y)
            loss.backward()
            return loss
        for step in range(5):
            opt.step(closure)
        """
    )
    assert sum(time_split(run).values()) <= run.clock.seconds * 1.01


def test_an_evaluation_after_the_last_step_is_counted(run_cell):
    run, _ = run_cell(LOOP + "with torch.no_grad():\n    for x, y in loader:\n        net(x)\n")
    assert len(run.series("seconds", name="forward")[0]) == 17


def test_what_closing_takes_is_not_the_users_time(run_cell, monkeypatch):
    closing = Cast.detach

    def slow(cast):
        time.sleep(0.5)
        closing(cast)

    monkeypatch.setattr(Cast, "detach", slow)
    run, _ = run_cell(LOOP)
    assert run.clock.cost > 0.5
    assert sum(time_split(run).values()) <= run.clock.seconds * 1.01
