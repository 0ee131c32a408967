"""This file tests whether steps without gradients are seen, and told apart by what took the gradients away."""

import pytest

from torchmagic.probes.loop_order import BETWEEN_LOOKS, LONGEST_REST
from torchmagic.records.loop import Idle, IdleStepRecord

SETUP = """
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 3), torch.randn(16, 1)
"""


def idle(run, why):
    return [record for record in run.of(IdleStepRecord) if record.why is why]


def loop(*lines, steps=6):
    return SETUP + f"for step in range({steps}):\n" + "".join(f"    {line}\n" for line in lines)


@pytest.mark.parametrize(
    "reset",
    [
        "opt.zero_grad()",
        "opt.zero_grad(set_to_none=False)",
        "net.zero_grad()",
        "net.zero_grad(set_to_none=False)",
        "for p in net.parameters(): p.grad = None",
        "for p in net.parameters(): p.grad.zero_()",
        "for p in net.parameters(): p.grad.data.zero_()",
        "for p in net.parameters(): p.grad.detach_().zero_()",
        "for p in net.parameters(): p.grad = torch.zeros_like(p)",
    ],
)
def test_every_way_of_resetting_too_early_is_seen_at_its_line(run_cell, reset):
    run, _ = run_cell(loop("F.mse_loss(net(x), y).backward()", reset, "opt.step()"))
    records = idle(run, Idle.RESET)
    assert [record.count for record in records] == [1, 2, 3, 4, 5]
    assert {record.reset.source for record in records} == {reset}
    assert {record.place.source for record in records} == {"opt.step()"}


@pytest.mark.parametrize(
    "lines",
    [
        ("opt.zero_grad()", "F.mse_loss(net(x), y).backward()", "opt.step()"),
        ("F.mse_loss(net(x), y).backward()", "opt.step()", "opt.zero_grad()"),
        ("loss = F.mse_loss(net(x), y)", "opt.zero_grad()", "loss.backward()", "opt.step()"),
        ("opt.zero_grad()", "(0.0 * net(x)).sum().backward()", "opt.step()"),
        ("opt.step()",),
    ],
)
def test_loops_in_order_losses_without_slope_and_bare_steps_are_no_news(run_cell, lines):
    run, _ = run_cell(loop(*lines))
    assert run.of(IdleStepRecord) == []


def test_a_missing_backward_is_seen_from_the_second_step_on(run_cell):
    run, _ = run_cell(loop("opt.zero_grad()", "loss = F.mse_loss(net(x), y)", "opt.step()"))
    assert [record.step for record in idle(run, Idle.NO_BACKWARD)] == [1, 2, 3, 4, 5]


def test_an_evaluation_is_no_forward_that_wants_a_backward(run_cell):
    run, _ = run_cell(loop("with torch.no_grad(): net(x)", "opt.step()"))
    assert run.of(IdleStepRecord) == []


def test_a_mistake_that_begins_late_is_seen_within_one_rest(run_cell):
    run, _ = run_cell(
        loop(
            "loss = F.mse_loss(net(x), y)",
            "loss.backward()",
            "if step >= 40: opt.zero_grad()",
            "opt.step()",
            "opt.zero_grad()",
            steps=40 + LONGEST_REST,
        )
    )
    records = idle(run, Idle.RESET)
    assert records
    assert records[0].step < 40 + 2 * BETWEEN_LOOKS + 8


def test_an_optimizer_of_the_users_own_may_do_without_gradients(run_cell):
    run, _ = run_cell(
        SETUP
        + """
class Walk(torch.optim.Optimizer):
    def __init__(self, parameters):
        super().__init__(parameters, {})
    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                p += 0.01 * torch.randn_like(p)
opt = Walk(net.parameters())
for step in range(6):
    loss = F.mse_loss(net(x), y)
    opt.step()
"""
    )
    assert run.of(IdleStepRecord) == []
