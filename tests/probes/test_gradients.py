"""This file tests the gradients' statistics against torch's own computation in double precision."""

import math
import textwrap

import pytest
import torch

STATISTICS = ("grad_norm", "grad_mean", "grad_std", "grad_abs_max", "grad_zero_share")


def expected(gradient):
    dense = gradient.coalesce().values() if gradient.is_sparse else gradient
    flat = (dense.abs() if dense.is_complex() else dense).double().flatten()
    return {
        "grad_norm": flat.norm().item(),
        "grad_mean": flat.mean().item(),
        "grad_std": flat.std(unbiased=False).item(),
        "grad_abs_max": flat.abs().max().item(),
        "grad_zero_share": (flat == 0).double().mean().item(),
    }


def recorded(run, parameter):
    return {metric: run.series(metric, parameter=parameter)[1][-1] for metric in STATISTICS}


def compare(run, names, *, rtol=1e-5, metrics=STATISTICS):
    for name, gradient in names["gradients"].items():
        found, wanted = recorded(run, f"net.{name}"), expected(gradient)
        for metric in metrics:
            assert found[metric] == pytest.approx(wanted[metric], rel=rtol, abs=1e-6 * wanted["grad_norm"]), (
                name,
                metric,
            )


LOOP = """
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(3):
    opt.zero_grad()
    net({x}).pow(2).mean().abs().backward()
    gradients = {{name: p.grad.clone() for name, p in net.named_parameters() if p.grad is not None}}
    opt.step()
"""


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_statistics_are_those_of_torch(run_cell, dtype):
    x = f"torch.randn(16, 8, dtype=torch.{dtype})"
    source = f"net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3)).to(torch.{dtype})\n"
    compare(*run_cell(source + LOOP.format(x=x)))


def test_half_precision_is_accumulated_in_single(run_cell):
    source = "net = nn.Sequential(nn.Linear(64, 256), nn.Linear(256, 3)).bfloat16()\n"
    compare(*run_cell(source + LOOP.format(x="torch.randn(16, 64, dtype=torch.bfloat16)")), rtol=1e-3)


def test_a_sparse_gradient_is_measured_by_its_values(run_cell):
    source = "net = nn.Embedding(50, 4, sparse=True)\n"
    run, names = run_cell(source + LOOP.format(x="torch.tensor([[1, 2], [2, 7]])"))
    assert names["gradients"]["weight"].is_sparse
    compare(run, names, metrics=("grad_norm", "grad_abs_max"))


def test_a_complex_gradient_is_measured_by_its_magnitudes(run_cell):
    source = "net = nn.Linear(4, 3, dtype=torch.complex64)\n"
    run, names = run_cell(source + LOOP.format(x="torch.randn(8, 4, dtype=torch.complex64)"))
    compare(run, names, metrics=("grad_norm", "grad_abs_max"))


def test_parameters_of_several_dtypes_stand_side_by_side(run_cell):
    run, names = run_cell(
        """
        class Mixed(nn.Module):
            def __init__(self):
                super().__init__()
                self.low, self.high = nn.Linear(4, 4).bfloat16(), nn.Linear(4, 1)
            def forward(self, x):
                return self.high(self.low(x.bfloat16()).float())
        net = Mixed()
        """
        + textwrap.indent(LOOP.format(x="torch.randn(8, 4)"), " " * 8)
    )
    compare(run, names, rtol=1e-2)


def test_an_empty_parameter_does_not_disturb(run_cell):
    run, names = run_cell(
        "net = nn.Linear(4, 2)\nnet.extra = nn.Parameter(torch.zeros(0))\n" + LOOP.format(x="torch.randn(8, 4)")
    )
    names["gradients"].pop("extra", None)
    compare(run, names)


def test_the_total_is_the_norm_over_all_parameters(run_cell):
    run, names = run_cell(
        "net = nn.Sequential(nn.Linear(8, 16), nn.Linear(16, 2))\n" + LOOP.format(x="torch.randn(9, 8)")
    )
    total = torch.cat([g.flatten() for g in names["gradients"].values()]).double().norm().item()
    assert run.series("grad_norm", name="")[1][-1] == pytest.approx(total, rel=1e-6)


def test_clipping_leaves_both_norms(run_cell):
    run, names = run_cell(
        """
        net = nn.Linear(4, 2)
        opt = torch.optim.SGD(net.parameters(), lr=0.01)
        before = []
        for step in range(4):
            opt.zero_grad()
            (100 * net(torch.randn(8, 4))).pow(2).mean().backward()
            before.append(nn.utils.clip_grad_norm_(net.parameters(), 1.0).item())
            opt.step()
        """
    )
    assert run.series("grad_norm_before_clip")[1] == pytest.approx(names["before"])
    assert run.series("grad_norm", name="")[1] == pytest.approx([1.0] * 4, rel=1e-4)


def test_a_parameter_without_a_gradient_is_left_out(run_cell):
    run, _ = run_cell(
        "net = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 1))\nnet.unused = nn.Linear(1, 1)\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "for step in range(3):\n    opt.zero_grad()\n    net[1](net[0](torch.randn(2, 4))).sum().backward()\n"
        "    opt.step()\n"
    )
    assert "net.unused.weight" not in run.subjects("grad_norm")


def test_a_gradient_that_is_not_finite_comes_through(run_cell):
    run, _ = run_cell(
        "net = nn.Linear(2, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "(net(torch.ones(1, 2)) * float('inf')).sum().backward()\nopt.step()\n",
        anomaly="off",
    )
    assert not math.isfinite(run.series("grad_norm", name="")[1][0])
