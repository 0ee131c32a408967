"""This file tests how far a step moves the parameters, and how much of it precision swallows."""

import math

import pytest

LOOP = """
before, after, asked = {}, {}, {}
for step in range(3):
    opt.zero_grad()
    net(torch.randn(16, 4)).pow(2).mean().backward()
    asked = {name: p.grad != 0 for name, p in net.named_parameters()}
    before = {name: p.detach().clone() for name, p in net.named_parameters()}
    opt.step()
    after = {name: p.detach().clone() for name, p in net.named_parameters()}
"""


def latest(run, metric, parameter):
    return run.series(metric, parameter=parameter)[1][-1]


def compare(run, names):
    for name, before in names["before"].items():
        after, asked = names["after"][name], names["asked"][name]
        ratio = (after - before).double().norm() / before.double().norm()
        assert latest(run, "update_ratio", f"net.{name}") == pytest.approx(ratio.item(), rel=1e-4)
        stuck = ((after == before) & asked).sum() / asked.sum()
        assert latest(run, "update_swallowed", f"net.{name}") == pytest.approx(stuck.item())


@pytest.mark.parametrize("optimizer", ["SGD(net.parameters(), lr=0.1)", "AdamW(net.parameters(), lr=0.01)"])
def test_the_update_ratio_is_the_length_of_the_step_over_that_of_the_weights(run_cell, optimizer):
    run, names = run_cell(
        f"net = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 1))\nopt = torch.optim.{optimizer}\n{LOOP}"
    )
    compare(run, names)
    assert latest(run, "update_swallowed", "net.0.weight") == 0.0


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_what_the_precision_of_the_weights_swallows_is_counted(run_cell, dtype):
    run, names = run_cell(
        f"net = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 1)).to(torch.{dtype})\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.004)\n"
        + LOOP.replace("randn(16, 4)", f"randn(16, 4, dtype=torch.{dtype})")
    )
    compare(run, names)
    assert 0.1 < latest(run, "update_swallowed", "net.0.weight") < 1.0


def test_a_learning_rate_of_zero_moves_nothing_and_swallows_nothing(run_cell):
    run, _ = run_cell(f"net = nn.Linear(4, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.0)\n{LOOP}")
    assert set(run.series("update_ratio", parameter="net.weight")[1]) == {0.0}
    assert math.isnan(latest(run, "update_swallowed", "net.weight"))
    assert [row["update_swallowed"] for row in run.parameters] == [None, None]


MASK = """
from torch.optim.optimizer import register_optimizer_step_pre_hook

def mask(optimizer, *_):
    for group in optimizer.param_groups:
        for param in group["params"]:
            param.grad[:1].zero_()

class Masked(torch.optim.SGD):
    def step(self):
        mask(self)
        super().step()

net = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
"""


@pytest.mark.parametrize(
    "masked",
    [
        "opt.register_step_pre_hook(mask)",
        "handles.append(register_optimizer_step_pre_hook(mask))",
        "opt = Masked(net.parameters(), lr=0.1)",
    ],
)
def test_gradients_that_are_masked_within_the_step_are_not_swallowed(run_cell, masked):
    handles = []
    try:
        run, _ = run_cell(f"{MASK}{masked}\n{LOOP}", names={"handles": handles}, level="expert", anomaly="auto")
    finally:
        for handle in handles:
            handle.remove()
    assert latest(run, "update_swallowed", "net.0.weight") == 0.0
    assert math.isnan(latest(run, "update_swallowed", "net.1.weight"))


def test_weights_of_zero_that_move_have_an_infinite_ratio_and_those_that_rest_none(run_cell):
    run, _ = run_cell(
        "net = nn.Linear(4, 1)\nnn.init.zeros_(net.weight)\nnn.init.ones_(net.bias)\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "net(torch.ones(2, 4)).sum().backward()\nnet.bias.grad.zero_()\nopt.step()\n"
    )
    assert run.series("update_ratio", parameter="net.weight")[1] == [float("inf")]
    assert run.series("update_ratio", parameter="net.bias")[1] == [0.0]


def test_a_model_of_one_parameter_is_compared_with_a_copy_of_its_own(run_cell):
    run, names = run_cell(f"net = nn.Linear(4, 1, bias=False)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n{LOOP}")
    compare(run, names)


@pytest.mark.parametrize("dtype", ["bfloat16", "float64", "complex64"])
def test_other_dtypes_do_not_disturb(run_cell, dtype):
    run, _ = run_cell(
        f"net = nn.Linear(4, 1, dtype=torch.{dtype})\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        f"for step in range(3):\n    net(torch.randn(8, 4, dtype=torch.{dtype})).abs().sum().backward()\n"
        "    opt.step()\n"
    )
    assert len(run.series("update_ratio", parameter="net.weight")[1]) == 3


def test_sparse_gradients_move_their_rows(run_cell):
    run, _ = run_cell(
        "net = nn.Embedding(50, 4, sparse=True)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "for step in range(3):\n    opt.zero_grad()\n    net(torch.tensor([1, 2])).pow(2).sum().backward()\n"
        "    opt.step()\n"
    )
    assert 0 < latest(run, "update_ratio", "net.weight") < 0.2
    assert math.isnan(latest(run, "update_swallowed", "net.weight"))


def test_a_frozen_parameter_among_the_optimizers_is_left_where_it_is(run_cell):
    run, _ = run_cell(
        "net = nn.Sequential(nn.Linear(4, 2), nn.Linear(2, 1))\nnet[0].requires_grad_(False)\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "for step in range(3):\n    net(torch.randn(8, 4)).pow(2).sum().backward()\n    opt.step()\n"
    )
    assert latest(run, "update_ratio", "net.0.weight") == 0.0
    assert math.isnan(latest(run, "update_swallowed", "net.0.weight"))
    assert latest(run, "update_swallowed", "net.1.weight") == 0.0


def test_the_steps_of_a_closure_are_compared_as_one(run_cell):
    run, names = run_cell(
        "net = nn.Linear(6, 1)\nx, y = torch.randn(64, 6), torch.randn(64, 1)\n"
        "opt = torch.optim.LBFGS(net.parameters(), max_iter=5)\n"
        "def closure():\n    opt.zero_grad()\n    loss = F.mse_loss(net(x), y)\n    loss.backward()\n    return loss\n"
        "before = net.weight.detach().clone()\nopt.step(closure)\nafter = net.weight.detach().clone()\n"
    )
    ratio = (names["after"] - names["before"]).norm() / names["before"].norm()
    assert latest(run, "update_ratio", "net.weight") == pytest.approx(ratio.item(), rel=1e-4)


def test_a_step_that_a_scaler_skips_inside_the_optimizer_swallows_nothing(run_cell):
    run, _ = run_cell(
        "net = nn.Linear(4, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1, fused=True)\n"
        "net(torch.ones(2, 4)).sum().backward()\nopt.found_inf = torch.tensor(1.0)\nopt.step()\n"
    )
    assert run.subjects("update_swallowed") == ()


def test_updates_can_be_left_out(run_cell):
    run, _ = run_cell(
        f"net = nn.Linear(4, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n{LOOP}", without="weights"
    )
    assert run.subjects("update_ratio") == ()


def test_a_parameter_without_values_is_left_out_and_the_others_keep_their_names(run_cell):
    run, _ = run_cell(
        """
        net = nn.Linear(4, 1)
        nothing = nn.Parameter(torch.empty(0))
        opt = torch.optim.SGD([net.weight, nothing, net.bias], lr=0.1)
        for _ in range(3):
            opt.zero_grad()
            net(torch.ones(2, 4)).sum().backward()
            opt.step()
        """
    )
    (frame,) = [each for each in run.frames if each.metric == "update_ratio"]
    assert frame.subjects == ("net.weight", "net.bias")
    assert latest(run, "update_ratio", "net.bias") > 0
