"""This file tests the weights' statistics against torch's own computation in double precision."""

import math

import pytest

METRICS = ("weight_norm", "weight_mean", "weight_std", "weight_abs_max", "weight_nonfinite")
LOOP = """
for step in range(3):
    opt.zero_grad()
    net(torch.randn(16, 4, dtype=torch.{dtype})).abs().pow(2).mean().backward()
    before = {{name: p.detach().clone() for name, p in net.named_parameters()}}
    opt.step()
"""


def compare(run, names, *, rel=1e-5):
    for name, weight in names["before"].items():
        values = (weight.abs() if weight.is_complex() else weight).double().flatten()
        wanted = (values.norm(), values.mean(), values.std(unbiased=False), values.abs().max(), 0)
        for metric, value in zip(METRICS, wanted, strict=True):
            found = run.series(metric, parameter=f"net.{name}")[1][-1]
            assert found == pytest.approx(float(value), rel=rel, abs=1e-7), (name, metric)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "complex64"])
def test_statistics_are_those_of_the_weights_before_the_step(run_cell, dtype):
    run, names = run_cell(
        f"net = nn.Sequential(nn.Linear(4, 80, dtype=torch.{dtype}), nn.LazyLinear(1, dtype=torch.{dtype}))\n"
        f"net(torch.zeros(1, 4, dtype=torch.{dtype}))\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n" + LOOP.format(dtype=dtype)
    )
    compare(run, names)
    assert run.subjects("weight_norm") == run.subjects("weight_std") == tuple(f"net.{name}" for name in names["before"])


def test_weights_that_all_lie_near_one_keep_their_deviation(run_cell):
    run, names = run_cell(
        "net = nn.LayerNorm(4)\nnet.weight.data += 1e-5 * torch.randn(4)\n"
        "opt = torch.optim.SGD(net.parameters(), lr=1e-4)\n" + LOOP.format(dtype="float32")
    )
    compare(run, names, rel=1e-6)


def test_broken_weights_are_counted_and_the_rest_is_measured(run_cell):
    run, _ = run_cell(
        "net = nn.Linear(4, 1)\nnet.weight.data = torch.tensor([[1.0, float('nan'), 3.0, float('inf')]])\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nnet(torch.ones(2, 4)).sum().backward()\nopt.step()\n",
        anomaly="off",
    )
    found = [run.series(metric, parameter="net.weight")[1][0] for metric in METRICS]
    assert math.isnan(found[0])
    assert found[1:] == [2.0, 1.0, 3.0, 2]


def test_weights_that_are_not_read_yet_or_have_no_storage_are_passed_over(run_cell):
    run, _ = run_cell(
        "net = nn.ModuleDict({'used': nn.Linear(4, 1), 'lazy': nn.LazyLinear(3)})\n"
        "net['meta'] = nn.Linear(2, 2, device='meta')\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "net['used'](torch.ones(2, 4)).sum().backward()\nopt.step()\n"
    )
    assert len(run.subjects("weight_norm")) == len(run.subjects("update_ratio")) == 2


def test_the_table_has_every_column(run_cell):
    run, _ = run_cell(
        "net = nn.Linear(4, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n" + LOOP.format(dtype="float32")
    )
    for row in run.parameters:
        assert all(isinstance(row[metric], float) for metric in (*METRICS, "weight_rms", "update_ratio"))


def test_weights_can_be_left_out(run_cell):
    run, _ = run_cell(
        "net = nn.Linear(4, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n" + LOOP.format(dtype="float32"),
        without="weights",
    )
    assert run.subjects("weight_norm") == ()


def test_the_lengths_at_the_end_are_those_after_the_last_step(run_cell):
    source = "net = nn.Linear(3, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
    source += "for _ in range(3):\n    net(torch.ones(2, 3)).sum().backward()\n    opt.step()\n"
    run, names = run_cell(source)
    (steps, values) = run.series("weight_norm_at_end", parameter="net.weight")
    assert len(steps) == 1
    assert values[0] == pytest.approx(names["net"].weight.norm().item(), rel=1e-5)
