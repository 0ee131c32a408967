"""This file tests how parameters that stand still are found, on cells that are run."""

import math

import pytest

SETUP = """
x, y = torch.randn(16, 4), torch.randn(16, 2)
net = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))
opt = torch.optim.SGD(net.parameters(), lr={lr})
for step in range({steps}):
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    opt.step()
"""


def shares(run, name):
    return run.series("unchanged_share", parameter=name)[1]


def test_parameters_that_move_are_looked_at_once_more_and_then_no_longer(run_cell):
    run, _ = run_cell(SETUP.format(lr=0.1, steps=100))
    assert shares(run, "net.0.weight") == [0.0]


def test_parameters_that_stand_still_are_looked_at_to_the_end(run_cell):
    run, _ = run_cell(SETUP.format(lr=1e-30, steps=100))
    assert len(shares(run, "net.0.weight")) > 3
    assert set(shares(run, "net.0.weight")) == {1.0}


def test_a_short_run_is_compared_at_its_end(run_cell):
    run, _ = run_cell(SETUP.format(lr=1e-30, steps=6))
    assert shares(run, "net.0.weight") == [1.0]
    run, _ = run_cell(SETUP.format(lr=1e-30, steps=4))
    assert shares(run, "net.0.weight") == []


def test_what_is_written_back_counts_as_unchanged(run_cell):
    source = SETUP.format(lr=0.1, steps=20).replace(
        "for step", "old = [p.detach().clone() for p in net.parameters()]\nfor step"
    )
    source += "    with torch.no_grad():\n        for p, o in zip(net.parameters(), old): p.copy_(o)\n"
    run, _ = run_cell(source)
    assert set(shares(run, "net.0.weight")) == {1.0}


@pytest.mark.parametrize("dtype", ["torch.bfloat16", "torch.complex64", "torch.float64"])
def test_other_types_do_not_disturb(run_cell, dtype):
    run, _ = run_cell(
        f"p = nn.Parameter(torch.randn(8).to({dtype}))\nopt = torch.optim.SGD([p], lr=0.1)\n"
        "for _ in range(12):\n    opt.zero_grad()\n    (p * p.conj()).sum().abs().backward()\n    opt.step()\n"
    )
    assert run.steps == 12


def test_elements_without_a_gradient_are_not_asked_to_move(run_cell):
    run, _ = run_cell(
        "table = nn.Embedding(100, 4)\nopt = torch.optim.SGD(table.parameters(), lr=0.5)\n"
        "for _ in range(12):\n    opt.zero_grad()\n"
        "    table(torch.tensor([1, 2])).pow(2).sum().backward()\n    opt.step()\n"
    )
    assert shares(run, "table.weight") == [0.0]


SAM = """
x, y = torch.randn(64, 4), torch.randn(64, 2)
net = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(20):
    rows = torch.randint(0, 64, (8,))
    opt.zero_grad()
    F.mse_loss(net(x[rows]), y[rows]).backward()
    old = [p.detach().clone() for p in net.parameters()]
    with torch.no_grad():
        for p in net.parameters(): p.add_(p.grad, alpha=0.05)
    opt.zero_grad()
    F.mse_loss(net(x[rows]), y[rows]).backward()
    {before}
    opt.step()
    {after}
"""
BACK = "with torch.no_grad(): [p.copy_(o) for p, o in zip(net.parameters(), old)]"


def test_weights_that_each_step_finds_elsewhere_and_that_come_back_are_unchanged(run_cell):
    run, _ = run_cell(SAM.format(before="pass", after=BACK))
    assert set(shares(run, "net.0.weight")) == {1.0}


def test_weights_that_come_back_before_the_step_move(run_cell):
    run, _ = run_cell(SAM.format(before=BACK, after="pass"))
    assert shares(run, "net.0.weight") == [0.0]


def test_elements_that_had_a_gradient_at_the_first_step_only_are_not_asked_to_move_again(run_cell):
    run, _ = run_cell(
        "table = nn.Embedding(100, 4)\nopt = torch.optim.SGD(table.parameters(), lr=0.1)\n"
        "for step in range(20):\n    opt.zero_grad()\n"
        "    rows = torch.tensor([1, 2] if step == 0 else [3, 4])\n"
        "    table(rows).pow(2).sum().backward()\n    opt.step()\n"
    )
    assert shares(run, "table.weight") == [0.0]


PHASES = """
x, y = torch.randn(16, 4), torch.randn(16, 2)
net = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))
def train(opt, steps, put_back=False):
    old = [p.detach().clone() for p in net.parameters()]
    for step in range(steps):
        opt.zero_grad()
        F.mse_loss(net(x), y).backward()
        opt.step()
        if put_back:
            with torch.no_grad():
                for p, was in zip(net.parameters(), old):
                    p.copy_(was)
"""


def test_a_second_optimizer_is_compared_with_what_its_first_step_left(run_cell):
    run, _ = run_cell(
        PHASES + "train(torch.optim.SGD(net.parameters(), lr=0.1), 70)\n"
        "with torch.no_grad():\n    net[0].weight.mul_(0.5)\n"
        "train(torch.optim.SGD(net.parameters(), lr=0.1), 70, put_back=True)\n"
    )
    steps, values = run.series("unchanged_share", parameter="net.0.weight")
    assert [value for step, value in zip(steps, values, strict=True) if step < 70] == [0.0]
    assert {value for step, value in zip(steps, values, strict=True) if step >= 70} == {1.0}


def test_what_is_changed_between_two_optimizers_is_no_step_of_the_first_one(run_cell):
    run, _ = run_cell(
        PHASES + "train(torch.optim.SGD(net.parameters(), lr=0.1), 70, put_back=True)\n"
        "with torch.no_grad():\n    net[0].weight.mul_(0.5)\n"
        "train(torch.optim.SGD(net.parameters(), lr=0.1), 5, put_back=True)\n"
    )
    assert set(shares(run, "net.0.weight")) == {1.0}


def test_the_first_forward_after_a_late_first_step_is_not_slept_through(run_cell):
    phase = "train(torch.optim.SGD(net.parameters(), lr=0.1), 70, put_back=True)\n"
    run, _ = run_cell(PHASES + 3 * phase)
    steps, _ = run.series("unchanged_share", parameter="net.0.weight")
    assert any(70 <= step < 140 for step in steps)


CLOSURE = """
x, y = torch.randn(64, 4), torch.randn(64, 2)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
if {zero}:
    net = nn.Linear(4, 2)
    [nn.init.zeros_(p) for p in net.parameters()]
opt = torch.optim.LBFGS(net.parameters(), line_search_fn="strong_wolfe", max_iter={iterations})
def closure():
    opt.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    return loss
old = [p.detach().clone() for p in net.parameters()]
for step in range(12):
    opt.step(closure)
    {after}
"""


def lbfgs(zero=False, iterations=20, after="pass"):
    return CLOSURE.format(zero=zero, iterations=iterations, after=after)


def test_a_closure_that_arrives_in_its_first_step_has_moved(run_cell):
    run, _ = run_cell(lbfgs(iterations=1000))
    assert shares(run, "net.0.weight") == [0.0]


def test_of_a_closure_s_weights_that_began_at_zero_nothing_is_said(run_cell):
    run, _ = run_cell(lbfgs(zero=True, iterations=1000))
    assert all(math.isnan(value) for value in shares(run, "net.weight"))
    assert "params-unchanged" not in {each.rule for each in run.findings}


def test_what_a_closure_moves_and_is_written_back_is_told(run_cell):
    run, _ = run_cell(lbfgs(after=BACK))
    assert set(shares(run, "net.0.weight")) == {1.0}
    assert "params-unchanged" in {each.rule for each in run.findings}


def test_a_closure_that_begins_at_its_minimum_has_arrived(run_cell):
    once = lbfgs(iterations=3000)
    run, _ = run_cell(
        once
        + once[once.index("for step") :]
        .replace("opt.step", "again.step")
        .replace("for step", "again = torch.optim.LBFGS(net.parameters())\nfor step")
    )
    assert "params-unchanged" not in {each.rule for each in run.findings}
