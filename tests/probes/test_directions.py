"""This file tests which way the steps of an optimizer of the user's own are seen to go."""

import pytest

from torchmagic.records.loop import OwnStepsRecord

SOURCE = """
class Own(torch.optim.Optimizer):
    def __init__(self, params, by):
        super().__init__(params, dict(by=by))
    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for each in group["params"]:
                if each.grad is not None and not each.is_meta:
                    each.add_(each.grad, alpha=group["by"])
net, beside = nn.Linear(3, 1), nn.Parameter(torch.ones(2, device="meta"))
beside.grad = torch.ones(2, device="meta")
opt = {opt}
for _ in range({steps}):
    net.zero_grad()
    net(torch.randn(8, 3)).square().mean().backward()
    opt.step()
"""


def told(run):
    return [(each.optimizer, each.steps, each.uphill) for each in run.of(OwnStepsRecord)]


@pytest.mark.parametrize(("by", "uphill"), [(-0.1, 0), (0.1, 6)])
@pytest.mark.parametrize("given", ["net.parameters()", "[*net.parameters(), beside]"])
def test_each_step_goes_down_the_gradients_or_up(run_cell, by, uphill, given):
    run, _ = run_cell(SOURCE.format(opt=f"Own({given}, {by})", steps=6))
    assert told(run) == [("opt", 6, uphill)]


def test_the_first_steps_are_enough(run_cell):
    run, _ = run_cell(SOURCE.format(opt="Own(net.parameters(), -0.1)", steps=40))
    assert [(each.steps < 20, each.uphill) for each in run.of(OwnStepsRecord)] == [(True, 0)]


def test_optimizers_of_torchs_are_not_looked_at(run_cell):
    run, _ = run_cell(SOURCE.format(opt="torch.optim.SGD(net.parameters(), lr=0.1)", steps=6))
    assert told(run) == []
