"""This file tests when a frozen layer is said to stand between a loss and all that trains."""

import pytest

from torchmagic.records.connection import FrozenOutputRecord

LOOP = """
opt = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.01)
for step in range(4):
    opt.zero_grad()
    net(torch.randn(8, 3)).pow(2).mean().backward()
    opt.step()
"""
NET = "net = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 8))\n"


def test_a_frozen_new_head_is_recorded_as_untrained(run_cell):
    run, _ = run_cell(NET + "net[2].requires_grad_(False)\n" + LOOP)
    (record,) = run.of(FrozenOutputRecord)
    assert (record.module, record.class_name, record.num_parameters) == ("net.2", "Linear", 2)
    assert record.untrained
    assert record.num_training == 2


def test_a_head_that_was_trained_or_loaded_is_not_untrained(run_cell):
    train = LOOP + "net[2].requires_grad_(False)\n"
    run, _ = run_cell(NET + train + LOOP)
    assert [record.untrained for record in run.of(FrozenOutputRecord)] == [False]
    load = "net[2].load_state_dict({'weight': torch.randn(8, 16), 'bias': torch.randn(8)})\n"
    run, _ = run_cell(NET + load + "net[2].requires_grad_(False)\n" + LOOP)
    assert [record.untrained for record in run.of(FrozenOutputRecord)] == [False]


@pytest.mark.parametrize("frozen", ["net[0]", "nn.Linear(2, 2)"])
def test_a_frozen_body_and_none_at_all_are_silent(run_cell, frozen):
    run, _ = run_cell(NET + f"{frozen}.requires_grad_(False)\n" + LOOP)
    assert run.of(FrozenOutputRecord) == []


def test_an_adapter_beside_the_frozen_head_is_silent(run_cell):
    run, _ = run_cell(
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.body, self.head, self.adapter = nn.Linear(3, 8), nn.Linear(8, 2), nn.Linear(8, 2)
            def forward(self, x):
                h = self.body(x).tanh()
                return self.head(h) + self.adapter(h)
        net = Net()
        net.head.requires_grad_(False)
        """
        + LOOP.replace("\n", "\n        ")
    )
    assert run.of(FrozenOutputRecord) == []


FRESH = "torch.empty(8, 16).uniform_(-0.25, 0.25)"


@pytest.mark.parametrize(
    ("weight", "untrained"),
    [
        (FRESH, True),
        ("0.5 * " + FRESH, False),
        ("torch.randn(8, 16) * 0.25 / 3**0.5", False),
        ("2 * " + FRESH, False),
        ("torch.zeros(8, 16)", False),
    ],
    ids=["fresh", "narrower", "another shape", "wider", "zero"],
)
def test_values_are_those_of_a_new_layer_by_their_limits_and_their_spread(run_cell, weight, untrained):
    head = f"with torch.no_grad(): net[2].weight.copy_({weight})\nnet[2].requires_grad_(False)\n"
    run, _ = run_cell(NET + head + LOOP)
    assert [record.untrained for record in run.of(FrozenOutputRecord)] == [untrained]
