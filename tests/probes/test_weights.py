"""This file tests the weights' norms and how far a step moves them."""

import pytest

LOOP = """
before, after = {}, {}
for step in range(3):
    opt.zero_grad()
    net(torch.randn(16, 4)).pow(2).mean().backward()
    before = {name: p.detach().clone() for name, p in net.named_parameters()}
    opt.step()
    after = {name: p.detach().clone() for name, p in net.named_parameters()}
"""


@pytest.mark.parametrize("optimizer", ["SGD(net.parameters(), lr=0.1)", "AdamW(net.parameters(), lr=0.01)"])
def test_the_update_ratio_is_the_length_of_the_step_over_that_of_the_weights(run_cell, optimizer):
    run, names = run_cell(
        f"net = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 1))\nopt = torch.optim.{optimizer}\n{LOOP}"
    )
    for name, before in names["before"].items():
        moved = (names["after"][name] - before).double().norm() / before.double().norm()
        assert run.series("update_ratio", parameter=f"net.{name}")[1][-1] == pytest.approx(moved.item(), rel=1e-4)
        assert run.series("weight_norm", parameter=f"net.{name}")[1][-1] == pytest.approx(
            before.norm().item(), rel=1e-5
        )


def test_weights_of_zero_that_move_have_an_infinite_ratio_and_those_that_rest_none(run_cell):
    run, _ = run_cell(
        "net = nn.Linear(4, 1)\nnn.init.zeros_(net.weight)\nnn.init.ones_(net.bias)\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "net(torch.ones(2, 4)).sum().backward()\nnet.bias.grad.zero_()\nopt.step()\n"
    )
    assert run.series("update_ratio", parameter="net.weight")[1] == [float("inf")]
    assert run.series("update_ratio", parameter="net.bias")[1] == [0.0]


def test_a_learning_rate_of_zero_moves_nothing(run_cell):
    run, _ = run_cell(f"net = nn.Linear(4, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.0)\n{LOOP}")
    assert set(run.series("update_ratio", parameter="net.weight")[1]) == {0.0}


@pytest.mark.parametrize("dtype", ["bfloat16", "float64", "complex64"])
def test_other_dtypes_do_not_disturb(run_cell, dtype):
    run, _ = run_cell(
        f"net = nn.Linear(4, 1, dtype=torch.{dtype})\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        f"for step in range(3):\n    net(torch.randn(8, 4, dtype=torch.{dtype})).abs().sum().backward()\n"
        "    opt.step()\n"
    )
    assert len(run.series("update_ratio", parameter="net.weight")[1]) == 3


def test_weights_can_be_left_out(run_cell):
    run, _ = run_cell(
        f"net = nn.Linear(4, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n{LOOP}", without="weights"
    )
    assert run.subjects("update_ratio") == ()
