"""This file tests which losses an evaluation is told of: none whose gradients the user asks for."""

import pytest

ONLY = {"only": ("data", "validation", "backward")}
# An inner loop trains a head of its own on each episode; one loss of the outer loop is trained by the optimizer.
ANIL = """
from torch.autograd import grad
body = nn.Sequential(nn.Linear(3, 8), nn.ReLU())
opt = torch.optim.SGD(body.parameters(), lr=0.01)
x, y = torch.randn(16, 3), torch.arange(16) % 2
for episode in range(6):
    w, b = torch.zeros(2, 8, requires_grad=True), torch.zeros(2, requires_grad=True)
    features = body(x)
    for _ in range({inner}):
        loss = {loss}
        gw, gb = {call}(loss, (w, b), {more})
        w, b = w - 0.1 * gw, b - 0.1 * gb
    loss = F.cross_entropy(F.linear(body(x), w, b), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
INNER = "F.cross_entropy(F.linear(features, w, b), y)"


@pytest.mark.parametrize("call", ["torch.autograd.grad", "grad"])
@pytest.mark.parametrize("loss", [INNER, f"0.5 * {INNER} + 0.01 * w.square().sum()"])
@pytest.mark.parametrize("more", ["create_graph=True", "retain_graph=True"])
@pytest.mark.parametrize("inner", [3, 5])
def test_losses_of_an_inner_loop_are_trained(run_cell, call, loss, more, inner):
    run, _ = run_cell(ANIL.format(call=call, loss=loss, more=more, inner=inner), **ONLY)
    assert run.subjects("eval_loss") == ()
    assert len(run.series("loss")[0]) == 6


def test_losses_beside_them_are_still_an_evaluation(run_cell):
    source = ANIL.format(call="grad", loss=INNER, more="retain_graph=True", inner=1)
    seen, last = "    seen = [F.cross_entropy(body(x), (y + k) % 2) for k in range(4)]\n", "    loss = F.cross_entropy("
    run, names = run_cell(source.replace(last + "F.linear(body", seen + last + "F.linear(body"), **ONLY)
    steps, values = run.series("eval_loss")
    assert len(steps) == 6
    assert values[-1] == pytest.approx(sum(each.item() for each in names["seen"]) / 4, rel=1e-4)


def test_the_function_is_torchs_own_again_after_the_run(run_cell):
    import torch  # noqa: PLC0415 - it is asked for as it is now

    before = torch.autograd._engine_run_backward
    run_cell(ANIL.format(call="grad", loss=INNER, more="retain_graph=True", inner=1), **ONLY)
    assert torch.autograd._engine_run_backward is before
