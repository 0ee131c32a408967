"""This file tests what is told of optimizers and their groups, on cells that are run."""

import torch

from torchmagic.probes.optimizer_groups import settings_of
from torchmagic.records.objective import GroupRecord

LOOP = """
x, y = torch.randn(16, 4), torch.randn(16, 2)
net = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))
def train(opt, steps):
    for _ in range(steps):
        opt.zero_grad()
        F.mse_loss(net(x), y).backward()
        opt.step()
"""


def test_each_group_is_told_with_its_settings_and_line(run_cell):
    source = LOOP + (
        "adam = torch.optim.AdamW([{'params': net[0].parameters()}, {'params': net[1].parameters(), 'lr': 0.5}],\n"
        "    lr=0.1, weight_decay=0.3, maximize=True)\ntrain(adam, 3)\n"
    )
    run, _ = run_cell(source)
    first, second = run.of(GroupRecord)
    assert (first.subject, first.lr, second.subject, second.lr) == ("adam[0]", 0.1, "adam[1]", 0.5)
    assert (first.weight_decay, first.decoupled, first.maximize) == (0.3, True, True)
    assert second.parameters == ("net.1.weight", "net.1.bias")
    assert second.num_elements == 18
    assert first.built.source.startswith("adam = torch.optim.AdamW(")


def test_each_group_is_told_with_all_its_other_settings(run_cell):
    run, _ = run_cell(LOOP + "adam = torch.optim.Adam(net.parameters(), lr=0.1, betas=(0.5, 0.9))\ntrain(adam, 1)\n")
    (record,) = run.of(GroupRecord)
    assert record.settings == {"betas": "0.5, 0.9", "eps": 1e-08, "amsgrad": False, "fused": "none"}


def test_settings_that_are_tensors_are_read_on_the_host_and_objects_are_left_out():
    group = {"params": [], "lr": 0.1, "foreach": True, "momentum": torch.tensor(0.5), "hook": print, "name": "head"}
    group |= {"betas": (torch.tensor(0.25), 0.9), "wide": torch.ones(3), "mode": "cubic"}
    assert settings_of(group) == {"momentum": 0.5, "betas": "0.25, 0.9", "mode": "cubic"}


def test_an_optimizer_that_comes_late_is_told_too(run_cell):
    source = LOOP + "for fold in range(3):\n    opt = torch.optim.SGD(net.parameters(), lr=0.1)\n    train(opt, 40)\n"
    run, _ = run_cell(source)
    assert [record.step for record in run.of(GroupRecord)] == [0, 40, 80]
    assert all(record.built is not None for record in run.of(GroupRecord))
    assert {record.subject for record in run.of(GroupRecord)} == set(run.subjects("lr")) == {"opt"}


def test_one_that_was_built_before_the_run_has_no_line(run_cell):
    names = {}
    run_cell(LOOP + "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n", names=names)
    _, before = run_cell(LOOP + "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n")
    run, _ = run_cell("train(opt, 2)\n", names=before)
    assert [record.built for record in run.of(GroupRecord)] == [None]


def test_the_line_is_that_which_calls_a_class_of_the_users_own(run_cell):
    source = LOOP + (
        "class Mine(torch.optim.SGD):\n    def __init__(self, params):\n        super().__init__(params, lr=0.1)\n"
        "opt = Mine(net.parameters())\ntrain(opt, 2)\n"
    )
    run, _ = run_cell(source)
    assert run.of(GroupRecord)[0].built.source == "opt = Mine(net.parameters())"
