"""This file tests the share of silent units against models in which it is known."""

import math

import pytest

from torchmagic.debuggers.crew import Crew

LOOP = """
opt = torch.optim.SGD(net.parameters(), lr=0.0)
for step in range({steps}):
    opt.zero_grad()
    net({x}).sum().backward()
    opt.step()
"""
DENSE = """
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
with torch.no_grad():
    net[0].bias[:{silent}] = -1000.0
    net[0].bias[{silent}:] = 1000.0
"""


def last(run, module):
    return run.series("dead_share", module=module)[1][-1]


@pytest.mark.parametrize("silent", [0, 2, 4, 8])
def test_the_share_of_silent_units_is_exact(run_cell, silent):
    run, _ = run_cell(DENSE.format(silent=silent) + LOOP.format(steps=8, x="torch.randn(64, 4)"))
    assert last(run, "net.1") == silent / 8


def test_a_unit_that_gives_nan_is_not_silent(run_cell):
    broken = DENSE.format(silent=2) + "net[0].bias.data[4:] = math.nan\n"
    run, _ = run_cell("import math\n" + broken + LOOP.format(steps=8, x="torch.randn(64, 4)"))
    assert last(run, "net.1") == 2 / 8


def test_nothing_is_said_before_enough_was_seen(run_cell):
    run, _ = run_cell(DENSE.format(silent=4) + LOOP.format(steps=4, x="torch.randn(64, 4)"))
    assert run.series("dead_share", module="net.1") == ([], [])
    run, _ = run_cell(DENSE.format(silent=4) + LOOP.format(steps=20, x="torch.randn(8, 4)"))
    assert run.series("dead_share", module="net.1") == ([], [])


def test_a_channel_counts_as_one_unit_over_all_its_places(run_cell):
    run, _ = run_cell(
        "net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.LazyLinear(1))\n"
        "net(torch.randn(1, 1, 6, 6))\n"
        "with torch.no_grad():\n    net[0].bias[0] = -1000.0\n    net[0].bias[1:] = 1000.0\n"
        + LOOP.format(steps=8, x="torch.randn(64, 1, 6, 6)")
    )
    assert last(run, "net.1") == 0.25


def test_in_a_sequence_the_last_dimension_holds_the_units(run_cell):
    run, _ = run_cell(DENSE.format(silent=2) + LOOP.format(steps=8, x="torch.randn(32, 5, 4)"))
    assert last(run, "net.1") == 0.25


def test_a_unit_that_answers_once_in_a_window_is_alive(run_cell):
    run, _ = run_cell(
        """
        net = nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 1))
        with torch.no_grad():
            net[0].weight.copy_(torch.tensor([[1.0], [0.0]]))
            net[0].bias.copy_(torch.tensor([-0.5, 1.0]))
        opt = torch.optim.SGD(net.parameters(), lr=0.0)
        for step in range(20):
            x = torch.zeros(64, 1)
            if step % 4 == 0:
                x[0] = 1.0
            opt.zero_grad()
            net(x).sum().backward()
            opt.step()
        """
    )
    assert max(run.series("dead_share", module="net.1")[1]) == 0.0


def test_an_evaluation_does_not_count(run_cell):
    run, _ = run_cell(
        DENSE.format(silent=4) + "with torch.no_grad():\n    for i in range(20):\n        net(torch.randn(64, 4))\n"
    )
    assert run.series("dead_share", module="net.1") == ([], [])


def test_a_rectifier_that_is_used_twice_in_one_forward_is_counted_as_it_is_used(run_cell):
    run, _ = run_cell(
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.a, self.b, self.act = nn.Linear(4, 8), nn.Linear(8, 6), nn.ReLU()
            def forward(self, x):
                return self.act(self.b(self.act(self.a(x))))
        net = Net()
        with torch.no_grad():
            net.a.bias.fill_(1000.0)
            net.b.weight.fill_(1.0)
            net.b.bias.fill_(1000.0)
        """
        + LOOP.format(steps=10, x="torch.randn(64, 4)").replace("\n", "\n        ")
    )
    assert all(share == 0.0 for share in run.series("dead_share", module="net.act")[1])


def test_activations_can_be_left_out(run_cell):
    run, _ = run_cell(DENSE.format(silent=4) + LOOP.format(steps=8, x="torch.randn(64, 4)"), without=("activations",))
    assert run.subjects("dead_share") == ()


def test_a_function_that_a_later_model_calls_is_seen(run_cell):
    run, _ = run_cell(
        DENSE.format(silent=4) + LOOP.format(steps=300, x="torch.randn(64, 4)") + "class Late(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.one = nn.Linear(4, 8)\n"
        "    def forward(self, x):\n"
        "        return F.relu(self.one(x) - 1000)\n"
        "net = Late()\n" + LOOP.format(steps=200, x="torch.randn(64, 4)"),
        every=None,
    )
    assert any(name.endswith("relu(1)") for name in run.subjects("dead_share"))


def test_of_samples_that_are_all_alike_nothing_is_said_unless_every_unit_is_silent(run_cell):
    run, _ = run_cell(DENSE.format(silent=4) + LOOP.format(steps=8, x="torch.ones(64, 4)"))
    assert math.isnan(last(run, "net.1"))
    run, _ = run_cell(DENSE.format(silent=8) + LOOP.format(steps=8, x="torch.ones(64, 4)"))
    assert last(run, "net.1") == 1.0


def test_looks_a_few_steps_apart_do_not_settle_anew_who_hears_what(run_cell, monkeypatch):
    wakes, wake = [], Crew.wake
    monkeypatch.setattr(Crew, "wake", lambda crew: (wakes.append(crew), wake(crew))[1])
    cell = DENSE.format(silent=4) + LOOP.format(steps=200, x="torch.randn(64, 4)")
    run_cell(cell, only=("activations",), every=None)
    assert len(wakes) < 40
