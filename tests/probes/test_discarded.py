"""This file tests whether gradients that are reset batch after batch are seen, and what else resets between steps."""

import pytest

from torchmagic.records.loop import DiscardedGradientsRecord

SETUP = """
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 3), torch.randn(16, 1)
"""


def test_each_backward_that_was_for_nothing_is_counted(run_cell):
    run, _ = run_cell(
        SETUP
        + """
for i in range(40):
    net.zero_grad(set_to_none=False)
    F.mse_loss(net(x), y).backward()
    if i % 4 == 3:
        opt.step()
"""
    )
    (record,) = run.of(DiscardedGradientsRecord)
    assert (record.optimizer, record.wiped, record.count, record.steps) == ("opt", 3, 8, 9)
    assert record.reset.source == "net.zero_grad(set_to_none=False)"
    assert record.backward.source == "F.mse_loss(net(x), y).backward()"
    assert not record.inspected


def test_a_usual_loop_and_one_that_adds_up_discard_nothing(run_cell):
    run, _ = run_cell(
        SETUP
        + """
for i in range(40):
    if i % 4 == 0 or i > 20:
        opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    if i % 4 == 3 or i > 20:
        opt.step()
"""
    )
    assert run.of(DiscardedGradientsRecord) == []


def test_weights_that_move_meanwhile_and_closures_are_no_such_thing(run_cell):
    run, _ = run_cell(
        SETUP
        + """
def closure():
    opt.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    return loss

for i in range(20):
    closure()
    net[0].weight.data.add_(0.01)
    closure()
    opt.step()

opt = torch.optim.LBFGS(net.parameters())
for i in range(8):
    opt.step(closure)
"""
    )
    assert run.of(DiscardedGradientsRecord) == []


TWO_LOSSES = """
for i in range(20):
    opt.zero_grad()
    {before}
    F.l1_loss(net(x{plus}), y).backward()
    {between}
    F.mse_loss(net(x), y).backward()
    opt.step()
"""


def two_losses(run_cell, *, before="pass", plus="", between="net.zero_grad()"):
    run, _ = run_cell(SETUP + TWO_LOSSES.format(before=before, plus=plus, between=between))
    return run.of(DiscardedGradientsRecord)


def test_a_loss_whose_gradients_are_reset_before_those_of_another_is_named(run_cell):
    (record,) = two_losses(run_cell)
    assert (record.wiped, record.count, record.steps) == (1, 18, 19)
    assert record.backward.source == "F.l1_loss(net(x), y).backward()"
    assert record.kept.source == "F.mse_loss(net(x), y).backward()"
    assert record.reset.source == "net.zero_grad()"


@pytest.mark.parametrize(
    "changes",
    [
        {"between": "pass"},
        {"between": "net[0].zero_grad()"},
        {"between": "length = nn.utils.clip_grad_norm_(net.parameters(), 1e9); net.zero_grad()"},
        {"between": "net[0].weight.data.add_(0.01); net.zero_grad()"},
        {"before": "noise = torch.zeros(3, requires_grad=True)", "plus": " + noise"},
        {"before": "net[2].register_full_backward_hook(lambda *_: None)"},
        {"before": "net[0].weight.register_hook(lambda grad: None)"},
    ],
    ids=["added", "by part", "measured", "moved", "for an input", "heard by a module", "heard by a weight"],
)
def test_a_loss_whose_gradients_were_for_something_else_is_not(run_cell, changes):
    assert two_losses(run_cell, **changes) == []
