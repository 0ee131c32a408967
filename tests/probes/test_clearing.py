"""This file tests whether steps on gradients that were never reset are told from all other loops."""

import pytest

from torchmagic.probes.clearing import Clearing
from torchmagic.records.protocol import UnclearedGradientsRecord

SETUP = """
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 3), torch.randn(16, 1)
"""


def streaks(run):
    return [(record.optimizer, record.step, record.streak) for record in run.of(UnclearedGradientsRecord)]


def test_every_step_without_a_reset_makes_the_streak_longer(run_cell):
    run, _ = run_cell(SETUP + "for step in range(5):\n    F.mse_loss(net(x), y).backward()\n    opt.step()\n")
    assert streaks(run) == [("opt", 1, 1), ("opt", 2, 2), ("opt", 3, 3), ("opt", 4, 4)]
    record = run.of(UnclearedGradientsRecord)[-1]
    assert (record.num_parameters, record.total) == (4, 4)
    assert record.backward.source == "F.mse_loss(net(x), y).backward()"


@pytest.mark.parametrize(
    "reset",
    [
        "opt.zero_grad()",
        "opt.zero_grad(set_to_none=False)",
        "net.zero_grad()",
        "net.zero_grad(set_to_none=False)",
        "for p in net.parameters(): p.grad = None",
        "for p in net.parameters(): p.grad = torch.zeros_like(p)",
        "for p in net.parameters(): p.grad.zero_()",
        "for p in net.parameters(): p.grad.detach_().zero_()",
        "for p in net.parameters(): p.grad.mul_(0.0)",
    ],
)
def test_every_way_of_resetting_is_known(run_cell, reset):
    run, _ = run_cell(
        SETUP + f"for step in range(12):\n    F.mse_loss(net(x), y).backward()\n    opt.step()\n    {reset}\n"
    )
    assert streaks(run) == []


def test_adding_up_before_a_step_is_meant(run_cell):
    run, _ = run_cell(
        SETUP + "for i in range(12):\n    (F.mse_loss(net(x), y) / 3).backward()\n"
        "    if i % 3 == 2:\n        opt.step()\n        opt.zero_grad()\n"
    )
    assert streaks(run) == []


def test_adding_up_without_a_reset_after_the_step_is_found(run_cell):
    run, _ = run_cell(
        SETUP
        + "for i in range(12):\n    (F.mse_loss(net(x), y) / 3).backward()\n    if i % 3 == 2:\n        opt.step()\n"
    )
    assert streaks(run) == [("opt", 1, 1), ("opt", 2, 2), ("opt", 3, 3)]


def test_a_reset_now_and_then_begins_a_new_streak(run_cell):
    run, _ = run_cell(
        SETUP + "for step in range(7):\n    if step % 3 == 0:\n        opt.zero_grad()\n"
        "    F.mse_loss(net(x), y).backward()\n    opt.step()\n"
    )
    assert [streak for _, _, streak in streaks(run)] == [1, 2, 1, 2]


def test_each_optimizer_is_counted_by_itself(run_cell):
    run, _ = run_cell(
        """
        a, b = nn.Linear(3, 1), nn.Linear(3, 1)
        a_opt, b_opt = torch.optim.SGD(a.parameters(), lr=0.01), torch.optim.SGD(b.parameters(), lr=0.01)
        x = torch.randn(16, 3)
        for step in range(4):
            a_opt.zero_grad()
            (a(x) + b(x)).pow(2).mean().backward()
            a_opt.step()
            b_opt.step()
        """
    )
    assert {name for name, _, _ in streaks(run)} == {"b_opt"}
    assert [streak for _, _, streak in streaks(run)] == [1, 2, 3]


def test_one_part_that_is_never_reset_is_found(run_cell):
    run, _ = run_cell(
        SETUP + "for step in range(5):\n    net[0].zero_grad()\n    F.mse_loss(net(x), y).backward()\n    opt.step()\n"
    )
    record = run.of(UnclearedGradientsRecord)[-1]
    assert (record.num_parameters, record.total, record.streak) == (2, 2, 4) or record.total == 4


CLOSURE = """
opt = torch.optim.LBFGS(net.parameters(), lr=0.01, max_iter=3)
def closure():
    {first}
    for part, target in zip(x.split(8), y.split(8)):
        loss = F.mse_loss(net(part), target)
        loss.backward()
    return loss
for step in range(6):
    {before}
    opt.step({closure})
    {after}
"""


def closure(run_cell, first="pass", before="pass", after="pass", given="closure"):
    run, _ = run_cell(SETUP + CLOSURE.format(first=first, before=before, after=after, closure=given))
    return [record.streak for record in run.of(UnclearedGradientsRecord)]


def test_a_closure_that_never_resets_is_told_from_the_second_step_on(run_cell):
    assert closure(run_cell) == [1, 2, 3, 4, 5]


def test_a_closure_that_resets_may_add_up_what_it_likes(run_cell):
    assert closure(run_cell, first="opt.zero_grad()") == []
    assert closure(run_cell, first="opt.zero_grad(set_to_none=False)") == []


def test_a_reset_between_the_steps_is_one(run_cell):
    assert closure(run_cell, before="opt.zero_grad()") == []
    assert closure(run_cell, after="for p in net.parameters(): p.grad = None") == []


def test_a_closure_before_the_step_is_no_backward_within_it(run_cell):
    assert closure(run_cell, first="opt.zero_grad()", before="closure()", given="lambda: F.mse_loss(net(x), y)") == []


def test_a_closure_that_resets_is_silent(run_cell):
    run, _ = run_cell(
        SETUP + "opt = torch.optim.LBFGS(net.parameters(), max_iter=4)\n"
        "def closure():\n    opt.zero_grad()\n    loss = F.mse_loss(net(x), y)\n    loss.backward()\n    return loss\n"
        "for step in range(5):\n    opt.step(closure)\n"
    )
    assert streaks(run) == []


def test_steps_on_stale_gradients_without_a_backward_are_another_bug(run_cell):
    run, _ = run_cell(SETUP + "F.mse_loss(net(x), y).backward()\nfor step in range(5):\n    opt.step()\n")
    assert streaks(run) == []


def test_a_frozen_part_does_not_disturb(run_cell):
    run, _ = run_cell(
        SETUP + "net[0].requires_grad_(False)\n"
        "for step in range(5):\n    opt.zero_grad()\n    F.mse_loss(net(x), y).backward()\n    opt.step()\n"
    )
    assert streaks(run) == []


def test_a_reset_that_is_forgotten_after_many_clean_steps_is_found(run_cell):
    run, _ = run_cell(
        SETUP + "for step in range(60):\n    if step < 40:\n        opt.zero_grad()\n"
        "    F.mse_loss(net(x), y).backward()\n    opt.step()\n"
    )
    first, *others = [step for _, step, _ in streaks(run)]
    assert 40 <= first <= 40 + 16
    assert others == list(range(first + 1, min(first + 12, 60)))


def test_clean_loops_are_looked_at_ever_less(run_cell, monkeypatch):
    looked, original = [], Clearing._held
    monkeypatch.setattr(Clearing, "_held", lambda self, *given: looked.append(1) or original(self, *given))
    run_cell(
        SETUP + "for step in range(100):\n    opt.zero_grad()\n    F.mse_loss(net(x), y).backward()\n    opt.step()\n"
    )
    assert 20 < len(looked) < 50
