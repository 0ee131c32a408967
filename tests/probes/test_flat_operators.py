"""This file tests which operators without a slope are seen between a loss and what it is traced back to."""

import pytest
import torch
from torch.nn import functional

from torchmagic.probes.flat_operators import flat_operators
from torchmagic.probes.graph_walk import walk
from torchmagic.records.reach import ReachRecord

w = torch.randn(3, 3, requires_grad=True)


def flat(loss, **how):
    return flat_operators(loss, walk(loss).nodes, **how).operators


@pytest.mark.parametrize(
    ("made", "name"),
    [
        (w.round, "round"),
        (lambda: w.round(decimals=1), "round"),
        (w.floor, "floor"),
        (w.ceil, "ceil"),
        (w.fix, "trunc"),
        (w.sign, "sign"),
        (lambda: torch.div(w, 2, rounding_mode="floor"), "div"),
    ],
)
def test_a_step_is_flat_and_its_gradient_is_indeed_zero(made, name):
    loss = (made() * 2).exp().mean()
    assert flat(loss) == (name,)
    assert not torch.autograd.grad(loss, w)[0].any()


@pytest.mark.parametrize(
    "made",
    [lambda: w * 0, lambda: 0.0 * w, lambda: w * torch.zeros(3), lambda: torch.ones(2, 3) @ w @ torch.zeros(3, 3)],
)
def test_a_factor_of_zeros_is_flat_where_it_is_asked_for(made):
    loss = made().sum()
    assert flat(loss, factors=True) == ("mul",)
    assert flat(loss) == ()
    assert not torch.autograd.grad(loss, w)[0].any()


@pytest.mark.parametrize(
    "made",
    [
        lambda: w.round() + w,
        lambda: w + (w.round() - w).detach(),
        lambda: w / 2,
        lambda: w * 2,
        lambda: w * torch.tensor([0.0, 0.0, 1.0]),
        lambda: w * w.detach(),
        lambda: w * (w * 0),
        lambda: functional.relu(w),
    ],
)
def test_one_way_past_it_is_enough(made):
    assert flat(made().sum(), factors=True) == ()


def test_several_ways_may_end_at_several():
    assert flat([w.round().sum(), w.sign().sum()]) == ("round", "sign")


def test_what_is_multiplied_by_is_looked_at_once_all_gradients_were_zero(run_cell):
    source = """
        net = nn.Linear(4, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for step in range(12):
            loss = (net(torch.randn(8, 4)) * {factor} + 1).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """
    run, _ = run_cell(source.format(factor="(step > 99)"))
    assert [each.flat for each in run.of(ReachRecord)] == [(), ("mul",)]
    assert {each.rule for each in run.findings} == {"zero-gradient"}
    run, _ = run_cell(source.format(factor="(step > 2)"))
    assert "zero-gradient" not in {each.rule for each in run.findings}


def test_only_operators_above_what_is_behind_them_are_told():
    v = torch.randn(3, requires_grad=True)
    loss = (w.round() + w).sum() + v.sign().sum()
    found = flat_operators(loss, walk(loss).nodes)
    assert (found.operators, len(found.behind), found.behind[0] is v) == (("sign",), 1, True)


QUANTISED = """
    class Quantised(nn.Linear):
        def forward(self, x):
            return F.linear(x, {weight}, self.bias)

    net = nn.Sequential(Quantised(4, 8), nn.ReLU(), nn.Linear(8, 1))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(12):
        loss = (net(torch.randn(8, 4)) - 1).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""


def test_parameters_behind_one_are_named_beside_others_that_learn(run_cell):
    run, _ = run_cell(QUANTISED.format(weight="(self.weight * 8).round() / 8"))
    assert {(each.flat, each.flattened) for each in run.of(ReachRecord)} == {(("round",), ("net.0.weight",))}
    (finding,) = [each for each in run.findings if each.rule == "zero-gradient"]
    assert (finding.parameter, finding.source) == (
        "net.0.weight",
        "return F.linear(x, (self.weight * 8).round() / 8, self.bias)",
    )
    run, _ = run_cell(QUANTISED.format(weight="self.weight + ((self.weight * 8).round() / 8 - self.weight).detach()"))
    assert {(each.flat, each.flattened) for each in run.of(ReachRecord)} == {((), ())}
    assert "zero-gradient" not in {each.rule for each in run.findings}


def test_what_no_model_owns_says_nothing_of_the_models(run_cell):
    asked = QUANTISED.format(weight="self.weight").replace(
        "(net(torch.randn(8, 4)) - 1).square().mean()",
        "net(torch.randn(8, 4)).square().mean() + torch.randn(4, requires_grad=True).round().mean()",
    )
    run, _ = run_cell(asked)
    last = run.of(ReachRecord)[-1]  # before an optimizer has stepped, it could be trained by hand
    assert (last.flat, last.flattened, last.num_other_leaves) == ((), (), 1)
    assert "zero-gradient" not in {each.rule for each in run.findings}


def test_tensors_that_only_an_optimizer_knows_are_named_too(run_cell):
    run, _ = run_cell("""
    mask, shift = torch.rand(4, requires_grad=True), torch.rand(4, requires_grad=True)
    opt = torch.optim.SGD([mask, shift], lr=0.1)
    for step in range(12):
        loss = (mask.round() + shift - 1).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """)
    assert run.of(ReachRecord)[-1].flattened == ("mask",)
