"""This file tests the gradients' statistics against torch's own computation in double precision."""

import math
import textwrap

import pytest
import torch

from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch
from torchmagic.probes.gradients import MOST_TOLD, Gradients
from torchmagic.records.nonfinite import NonfiniteRecord
from torchmagic.session.session import Session
from torchmagic.views.curves import MOST_APART, curves_page

STATISTICS = ("grad_norm", "grad_mean", "grad_std", "grad_abs_max", "grad_zero_share", "grad_nonfinite")


def expected(gradient):
    dense = gradient.coalesce().values() if gradient.is_sparse else gradient
    flat = (dense.abs() if dense.is_complex() else dense).double().flatten()
    return {
        "grad_norm": flat.norm().item(),
        "grad_mean": flat.mean().item(),
        "grad_std": flat.std(unbiased=False).item(),
        "grad_abs_max": flat.abs().max().item(),
        "grad_zero_share": (flat == 0).double().mean().item(),
        "grad_nonfinite": 0,
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
    compare(run, names)


def test_a_complex_gradient_is_measured_by_its_magnitudes(run_cell):
    source = "net = nn.Linear(4, 3, dtype=torch.complex64)\n"
    run, names = run_cell(source + LOOP.format(x="torch.randn(8, 4, dtype=torch.complex64)"))
    compare(run, names)


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


def test_the_root_mean_square_follows_in_the_table(run_cell):
    run, names = run_cell("net = nn.Linear(8, 3)\n" + LOOP.format(x="torch.randn(9, 8)"))
    for row in run.parameters:
        gradient = names["gradients"][row["name"].removeprefix("net.")]
        assert row["grad_rms"] == pytest.approx(gradient.pow(2).mean().sqrt().item(), rel=1e-5)
        assert row["weight_rms"] == pytest.approx(row["weight_norm"] / math.prod(row["shape"]) ** 0.5)


def test_clipping_by_value_leaves_both_norms(run_cell):
    run, names = run_cell(
        """
        net = nn.Linear(4, 2)
        opt = torch.optim.SGD(net.parameters(), lr=0.01)
        before, after = [], []
        for step in range(4):
            opt.zero_grad()
            (100 * net(torch.randn(8, 4))).pow(2).mean().backward()
            before.append(torch.cat([p.grad.flatten() for p in net.parameters()]).norm().item())
            nn.utils.clip_grad_value_((p for p in net.parameters()), 0.5)
            after.append(torch.cat([p.grad.flatten() for p in net.parameters()]).norm().item())
            opt.step()
        """
    )
    assert max(names["after"]) <= 0.5 * 10**0.5 + 1e-6
    assert run.series("grad_norm_before_clip")[1] == pytest.approx(names["before"])
    assert run.series("grad_norm", name="")[1] == pytest.approx(names["after"])


@pytest.mark.skipif(not hasattr(torch.nn.utils, "clip_grads_with_norm_"), reason="torch before 2.6")
def test_clipping_in_two_calls_leaves_both_norms(run_cell):
    run, names = run_cell(
        """
        net = nn.Linear(4, 2)
        opt = torch.optim.SGD(net.parameters(), lr=0.01)
        for step in range(3):
            opt.zero_grad()
            (100 * net(torch.randn(8, 4))).pow(2).mean().backward()
            norm = nn.utils.get_total_norm([p.grad for p in net.parameters()])
            nn.utils.clip_grads_with_norm_(net.parameters(), 1.0, norm)
            opt.step()
        """
    )
    assert run.series("grad_norm_before_clip")[1][-1] == pytest.approx(names["norm"].item())
    assert run.series("grad_norm", name="")[1] == pytest.approx([1.0] * 3, rel=1e-4)


def test_each_optimizer_has_its_own_total(run_cell):
    run, names = run_cell(
        """
        a, b = nn.Linear(3, 2), nn.Linear(3, 1)
        a_opt, b_opt = torch.optim.SGD(a.parameters(), lr=0.01), torch.optim.Adam(b.parameters(), lr=0.01)
        totals = []
        for step in range(3):
            for net, opt in ((a, a_opt), (b, b_opt)):
                opt.zero_grad()
                net(torch.randn(8, 3)).pow(2).mean().backward()
                totals.append(torch.cat([p.grad.flatten() for p in net.parameters()]).norm().item())
                opt.step()
        """
    )
    assert run.series("grad_norm", name="")[1] == pytest.approx(names["totals"])
    assert set(run.subjects("grad_norm")) == {"a.weight", "a.bias", "b.weight", "b.bias"}
    assert run.series("optimizer_grad_norm", name="a_opt")[1] == pytest.approx(names["totals"][2::2])
    assert run.series("optimizer_grad_norm", name="b_opt")[1] == pytest.approx(names["totals"][1::2])
    curves = {line.name: line.values for block in curves_page(run).blocks for line in getattr(block, "lines", ())}
    assert [name for name in curves if "opt" in name] == ["a_opt", "b_opt"]
    assert curves["b_opt"] == pytest.approx(names["totals"][1::2])
    assert "total" not in curves


def test_the_optimizers_of_a_search_are_not_told_apart(run_cell):
    run, _ = run_cell(
        """
        nets = [nn.Linear(3, 1) for _ in range(12)]
        for number, net in enumerate(nets):
            globals()[f"opt{number}"] = torch.optim.SGD(net.parameters(), lr=0.01)
        for number, net in enumerate(nets):
            for step in range(2):
                net(torch.randn(8, 3)).pow(2).mean().backward()
                globals()[f"opt{number}"].step()
                net.zero_grad()
        """
    )
    assert len(run.subjects("optimizer_grad_norm")) == MOST_TOLD > MOST_APART
    assert [line.name for line in curves_page(run).blocks[1].lines] == ["total"]


def test_a_step_with_a_closure_is_measured_by_the_gradients_made_within_it(run_cell):
    run, names = run_cell(
        """
        net = nn.Linear(6, 1)
        x, y = torch.randn(64, 6), torch.randn(64, 1)
        opt = torch.optim.LBFGS(net.parameters(), max_iter=5)
        def closure():
            opt.zero_grad()
            loss = F.mse_loss(net(x), y)
            loss.backward()
            return loss
        totals = []
        for step in range(4):
            opt.step(closure)
            totals.append(torch.cat([p.grad.flatten() for p in net.parameters()]).norm().item())
        """
    )
    assert run.series("grad_norm", name="")[0] == [0, 1, 2, 3]
    assert run.series("grad_norm", name="")[1] == pytest.approx(names["totals"], rel=1e-4, abs=1e-9)


def test_accumulated_gradients_are_measured_as_the_step_finds_them(run_cell):
    run, names = run_cell(
        "net = nn.Linear(4, 2)\nopt = torch.optim.SGD(net.parameters(), lr=0.01)\n"
        "for i in range(6):\n    net(torch.randn(8, 4)).pow(2).mean().backward()\n"
        "    if i % 3 == 2:\n        gradients = {n: p.grad.clone() for n, p in net.named_parameters()}\n"
        "        opt.step()\n        opt.zero_grad()\n"
    )
    assert run.steps == 2
    compare(run, names)


def test_tied_and_parametrized_weights_are_measured_once(run_cell):
    run, names = run_cell(
        """
        class Tied(nn.Module):
            def __init__(self):
                super().__init__()
                self.table = nn.Embedding(9, 4)
                self.middle = nn.utils.parametrizations.weight_norm(nn.Linear(4, 4))
                self.head = nn.Linear(4, 9, bias=False)
                self.head.weight = self.table.weight
            def forward(self, x):
                return self.head(self.middle(self.table(x)))
        net = Tied()
        """
        + textwrap.indent(LOOP.format(x="torch.tensor([1, 2, 5])"), " " * 8)
    )
    compare(run, names)
    assert len(names["gradients"]) == len(run.subjects("grad_norm")) == 4


def test_gradients_whose_squares_overflow_have_a_finite_norm(run_cell):
    run, _ = run_cell(
        "net = nn.Linear(2, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.0)\n"
        "for step in range(3):\n    opt.zero_grad()\n    (net(torch.ones(1, 2)) * 1e30).sum().backward()\n"
        "    opt.step()\n",
        every=2,
    )
    assert run.series("grad_norm", name="")[1] == pytest.approx([3**0.5 * 1e30] * 3, rel=1e-5)
    assert not run.of(NonfiniteRecord)


def test_gradients_without_storage_are_passed_over(run_cell):
    run, _ = run_cell(
        "net = nn.Linear(4, 2, device='meta')\nopt = torch.optim.SGD(net.parameters(), lr=0.01)\n"
        "net(torch.ones(2, 4, device='meta')).sum().backward()\nopt.step()\n",
        without="backward",  # a loss without storage is another probe's matter
    )
    assert run.subjects("grad_norm") == ()


PLANTED = """
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=1e-3)
x = torch.randn(32, 4)
for step in range(2000):
    opt.zero_grad()
    (net(x + 0.1 * torch.randn(32, 4)) - 1).pow(2).mean().backward()
    if step == planted:
        {harm}
    opt.step()
"""


@pytest.mark.parametrize("planted", [117, 1853])
@pytest.mark.parametrize("clip", ["", "; nn.utils.clip_grad_norm_(net.parameters(), 1.0)"])
def test_a_spike_in_one_single_step_is_caught_with_every_parameters_detail(run_cell, planted, clip):
    source = PLANTED.format(harm=f"[p.grad.mul_(50) for p in net.parameters()]{clip}")
    run, _ = run_cell(source, names={"planted": planted}, every=None, budget=0.01, level="intermediate")
    for metric in (*STATISTICS, "weight_norm", "update_ratio"):
        for name in ("0.weight", "0.bias", "2.weight", "2.bias"):
            assert planted in run.series(metric, parameter=f"net.{name}")[0], (metric, name)
    assert len(run.series("grad_norm", parameter="net.0.weight")[0]) < 200


@pytest.mark.parametrize("planted", [203, 1971])
def test_one_broken_element_in_one_single_step_is_caught_with_every_parameters_detail(run_cell, planted):
    source = PLANTED.format(harm="net[2].weight.grad[0, 5] = float('nan')")
    source = source.replace("    opt.step()", "    opt.step()\n    net[2].weight.data.nan_to_num_()")
    run, _ = run_cell(source, names={"planted": planted}, every=None, budget=0.01, level="intermediate")
    counts = {
        name: dict(zip(*run.series("grad_nonfinite", parameter=f"net.{name}"), strict=True))
        for name in ("0.weight", "0.bias", "2.weight", "2.bias")
    }
    assert [found[planted] for found in counts.values()] == [0, 0, 1, 0]
    steps, totals = run.series("grad_norm", name="")
    assert [step for step, total in zip(steps, totals, strict=True) if math.isnan(total)] == [planted]


def test_a_run_that_stays_broken_is_not_looked_at_closely_each_step(run_cell):
    run, _ = run_cell(
        "net = nn.Linear(2, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "for step in range(300):\n    opt.zero_grad()\n    (net(torch.ones(1, 2)) * float('nan')).sum().backward()\n"
        "    opt.step()\n",
        every=100,
    )
    assert len(run.series("grad_nonfinite", parameter="net.weight")[0]) <= 8
    assert len(run.series("grad_norm", name="")[0]) == 300


def test_no_gradient_is_held_after_the_step(run_cell):
    _, names = run_cell(
        "import weakref\nnet = nn.Linear(4, 2)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nalive = []\n"
        "for step in range(3):\n    net(torch.randn(8, 4)).sum().backward()\n    opt.step()\n"
        "    refs = [weakref.ref(p.grad) for p in net.parameters()]\n    opt.zero_grad()\n"
        "    alive.append([ref() for ref in refs if ref() is not None])\n"
    )
    assert names["alive"] == [[], [], []]


def kept(layers, steps):
    """Return after each step whether its gradients are kept in one array, and whether they were looked at."""
    net, x, found = torch.nn.Sequential(*layers), torch.randn(4, 128), []
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    watch = Watch(Settings(save=False, level="basic", every=2), session=Session())
    run = watch.start()
    try:
        probe = next(each for each in watch._crew.probes if isinstance(each, Gradients))
        for step in range(steps):
            optimizer.zero_grad()
            net(x).pow(2).mean().backward()
            optimizer.step()
            looked_at = step in run.series("grad_norm", parameter=run.parameters[0]["name"])[0]
            found.append((probe.packed is not None, looked_at))
        return found
    finally:
        watch.stop()


def test_few_gradients_are_kept_in_the_step_in_which_they_are_looked_at():
    assert kept([torch.nn.Linear(128, 8)], 6) == [(True, True), (False, False)] * 3


def test_many_gradients_are_not_kept():
    assert kept([torch.nn.Linear(128, 128, bias=False) for _ in range(17)], 3) == [
        (False, True),
        (False, False),
        (False, True),
    ]
