"""This file tests whether a network that only answers is told to have got other weights."""

import pytest

CELL = """
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
target = copy.deepcopy(net)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(16, 3)
for step in range(9):
    {ask}
    loss = F.mse_loss(net(x), 1 + 0.5 * answer)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 3 == 2:
        {sync}
"""
ASK = "with torch.no_grad(): answer = target(x)"
LOAD = "target.load_state_dict(net.state_dict())"


def moves(run_cell, ask=ASK, sync=LOAD):
    run, _ = run_cell("import copy\n" + CELL.format(ask=ask, sync=sync))
    return run.series("answers_moved", name="target")[0]


@pytest.mark.parametrize(
    "sync",
    [
        LOAD,
        "for p, t in zip(net.parameters(), target.parameters()): t.data.copy_(p.data)",
        "for p, t in zip(net.parameters(), target.parameters()): t.data = p.data.clone()",
        "with torch.no_grad(): [t.lerp_(p, 0.1) for p, t in zip(net.parameters(), target.parameters())]",
    ],
)
@pytest.mark.parametrize("ask", [ASK, "answer = target(x).detach()"])
def test_other_weights_are_told_at_the_first_answer_after(run_cell, ask, sync):
    assert moves(run_cell, ask, sync) == [3, 6]


def test_weights_that_stay_or_that_an_optimizer_trains_are_no_news(run_cell):
    assert moves(run_cell, sync="pass") == []
    assert moves(run_cell, ask="with torch.no_grad(): answer = (target(x) + net(x)) / 2", sync="pass") == []
    run, _ = run_cell("import copy\n" + CELL.format(ask="answer = net(x).detach()", sync="pass"))
    assert run.series("answers_moved")[0] == []


def test_a_network_that_comes_late_is_followed(run_cell):
    run, _ = run_cell("""
    import copy
    net, target = nn.Linear(3, 1), None
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(60):
        if step == 40:
            target = copy.deepcopy(net)
        if step == 50:
            target.load_state_dict(net.state_dict())
        x = torch.randn(16, 3)
        with torch.no_grad():
            answer = target(x) if target else 0.0
        loss = (net(x) - 1 - 0.5 * answer).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """)
    assert run.series("answers_moved", name="target")[0] == [50]
