"""This file tests whether sums of means over different batches are told from all other sums of gradients."""

import pytest

from torchmagic.records.loop import AccumulationRecord

SETUP = """
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(64, 3), torch.randn(64, 1)
for step in range(6):
    opt.zero_grad()
    for i in range(0, 64, 16):
        {}
    opt.step()
"""


def counts(run_cell, *lines):
    run, _ = run_cell(SETUP.format("\n        ".join(lines)))
    return [record.num_backwards for record in run.of(AccumulationRecord)]


@pytest.mark.parametrize(
    "lines",
    [
        ("F.mse_loss(net(x[i:i+16]), y[i:i+16]).backward()",),
        ("loss = nn.MSELoss()(net(x[i:i+16]), y[i:i+16])", "torch.autograd.backward(loss)"),
        ("(net(x[i:i+16]) - y[i:i+16]).pow(2).mean().backward()",),
        ("(F.l1_loss(net(x[i:i+16]), y[i:i+16]) + 0.1 * net[0].bias.sum()).backward()",),
        ("F.mse_loss(net(x[torch.randperm(64)[:16]]), y[:16]).backward()",),
        ("(F.mse_loss(net(x[i:i+16]), y[i:i+16]) / 1).backward()",),  # as a trainer does that gathers nothing
        ("(1.0 * F.mse_loss(net(x[i:i+16]), y[i:i+16]) / 1.0 / 1).backward()",),
    ],
)
def test_means_that_nobody_divides_are_counted(run_cell, lines):
    assert counts(run_cell, *lines) == [4, 4, 4, 4, 4]


@pytest.mark.parametrize(
    "lines",
    [
        ("(F.mse_loss(net(x[i:i+16]), y[i:i+16]) / 4).backward()",),
        ("loss = F.mse_loss(net(x[i:i+16]), y[i:i+16])", "loss *= 0.25", "loss.backward()"),
        ("F.mse_loss(net(x[i:i+16]), y[i:i+16]).div(4).backward()",),
        ("(F.mse_loss(net(x[i:i+16]), y[i:i+16]) / 4 / 1.0).backward()",),
        ("F.mse_loss(net(x[i:i+16]), y[i:i+16]).backward(torch.tensor(0.25))",),
        ("F.mse_loss(net(x[i:i+16]), y[i:i+16], reduction='sum').backward()",),
        ("F.mse_loss(net(x), y).backward()",),
        ("F.mse_loss(net(x[i:i+16]), y[i:i+16]).backward()", "if i < 48: opt.zero_grad()"),
        ("F.mse_loss(net(x[i:i+16]), y[i:i+16]).backward()", "for p in net.parameters(): p.grad /= 1.5"),
    ],
)
def test_other_sums_are_no_news(run_cell, lines):
    assert counts(run_cell, *lines) == []


def test_two_optimizers_and_two_loaders_are_left_alone(run_cell):
    one = "F.mse_loss(net(x[i:i+16]), y[i:i+16]).backward()"
    source = SETUP.format(one).replace(
        "for step", "other = torch.optim.SGD(nn.Linear(2, 1).parameters(), lr=0.1)\nfor step"
    )
    run, _ = run_cell(source.replace("    opt.step()", "    opt.step(); other.step()"))
    assert run.of(AccumulationRecord) == []


def test_two_losses_of_one_batch_are_no_sum_over_batches(run_cell):
    lines = (
        "if i: continue",
        "h = net(x)",
        "for loss in (F.mse_loss(h, y), F.l1_loss(h, y)): loss.backward(retain_graph=True)",
    )
    assert counts(run_cell, *lines) == []
