"""This file tests whether training in evaluation mode is told from what is meant."""

import pytest

from torchmagic.records.protocol import EvalModeRecord

SETUP = """
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x = torch.randn(16, 4)
"""
LOOP = """
for step in range(4):
    opt.zero_grad()
    net(x).pow(2).mean().backward()
    opt.step()
"""


def test_a_model_in_evaluation_mode_is_recorded_at_each_step(run_cell):
    run, _ = run_cell(SETUP + "net.eval()\n" + LOOP)
    records = run.of(EvalModeRecord)
    assert [record.step for record in records] == [0, 1, 2, 3]
    assert records[0].modules == ("net.1", "net.3")
    assert records[0].class_names == ("BatchNorm1d", "Dropout")
    assert records[0].switched.source == "net.eval()"
    assert records[0].forward.source == "net(x).pow(2).mean().backward()"


def test_train_with_false_is_a_switch_too(run_cell):
    run, _ = run_cell(SETUP + "net.train(False)\n" + LOOP)
    assert run.of(EvalModeRecord)[0].switched.source == "net.train(False)"


@pytest.mark.parametrize(
    "meant",
    [
        "",
        "net.eval(); net.train()",
        "net.eval(); net(x); net.train()",
        "net[1].eval(); net[1].requires_grad_(False)",
        "net.eval(); net[1].train(); net[3].p = 0.0",
    ],
)
def test_what_is_meant_is_silent(run_cell, meant):
    run, _ = run_cell(SETUP + meant + "\n" + LOOP)
    assert run.of(EvalModeRecord) == []


def test_one_part_in_evaluation_mode_is_named(run_cell):
    run, _ = run_cell(SETUP + "net[3].eval()\n" + LOOP)
    assert run.of(EvalModeRecord)[0].modules == ("net.3",)


def test_an_evaluation_between_steps_is_no_training(run_cell):
    run, _ = run_cell(
        SETUP + LOOP + "    net.eval()\n    with torch.no_grad():\n        net(x)\n    net(x)\n    net.train()\n"
    )
    assert run.of(EvalModeRecord) == []


def test_a_teacher_in_evaluation_mode_is_silent(run_cell):
    run, _ = run_cell(
        SETUP
        + "teacher = nn.Sequential(nn.Linear(4, 1), nn.Dropout(0.5)).eval()\n"
        + LOOP.replace("net(x).pow(2)", "(net(x) - teacher(x).detach()).pow(2)")
    )
    assert run.of(EvalModeRecord) == []


def test_a_switch_late_in_a_healthy_run_is_seen_at_once(run_cell):
    run, _ = run_cell(
        """
        net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 1))
        opt = torch.optim.SGD(net.parameters(), lr=0.01)
        for step in range(44):
            if step == 40:
                net.eval()
            opt.zero_grad()
            net(torch.randn(8, 4)).pow(2).mean().backward()
            opt.step()
        """
    )
    records = run.of(EvalModeRecord)
    assert [record.step for record in records] == [40, 41, 42, 43]
    assert records[0].switched.line == 6


def test_an_evaluation_with_gradients_on_is_no_training_when_two_models_train_in_turns(run_cell):
    run, _ = run_cell(
        """
        nets = [nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 1)) for _ in range(2)]
        opts = [torch.optim.SGD(net.parameters(), lr=0.01) for net in nets]
        x = torch.randn(16, 4)
        for epoch in range(6):
            for net in nets:
                net.eval()
                F.mse_loss(net(x), x[:, :1])
                net.train()
            for step in range(2):
                for net, opt in zip(nets, opts):
                    opt.zero_grad()
                    F.mse_loss(net(x), x[:, :1]).backward()
                    opt.step()
        """
    )
    assert run.of(EvalModeRecord) == []


def test_a_flag_that_is_set_late_and_without_a_call_is_seen_at_a_later_look(run_cell):
    loop = LOOP.replace("range(4)", "range({})")
    run, _ = run_cell(SETUP + loop.format(70) + "net[3].training = False\n" + loop.format(70))
    first = run.of(EvalModeRecord)[0]
    assert first.modules == ("net.3",)
    assert 70 <= first.step <= 70 + 64
