"""This file breaks what optimizers remember, and tests that it is named before or after it spreads, or kept quiet."""

import pytest
import torch

from torchmagic.probes.nonfinite import NonFiniteError
from torchmagic.records.nonfinite import Birth, Cause, NonfiniteRecord

SETUP = """
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = OPTIMIZER
x, y = torch.randn(16, 4), torch.randn(16, 1)
def fit(steps):
    for step in range(steps):
        opt.zero_grad()
        F.mse_loss(net(x), y).backward()
        opt.step()
"""
ADAM = "torch.optim.Adam(net.parameters(), lr=0.01)"


def trained(code, *, optimizer=ADAM, before=5):
    return SETUP.replace("OPTIMIZER", optimizer) + f"fit({before})\nstate = opt.state[net[0].weight]\n{code}\n"


def told(run):
    return [(each.state, each.parameter, each.optimizer, each.silences) for each in run.of(NonfiniteRecord)]


@pytest.mark.parametrize(
    ("optimizer", "key", "value"),
    [
        (ADAM, "exp_avg_sq", "nan"),
        (ADAM, "exp_avg", "inf"),
        ("torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)", "momentum_buffer", "nan"),
        ("torch.optim.RMSprop(net.parameters(), lr=0.01)", "square_avg", "nan"),
        ("torch.optim.Adagrad(net.parameters(), lr=0.01)", "sum", "nan"),
    ],
)
def test_a_state_that_broke_a_weight_is_named_at_the_next_forward(run_cell, optimizer, key, value):
    run, _ = run_cell(trained(f"state['{key}'][0, 0] = float('{value}')\nfit(2)", optimizer=optimizer))
    name = optimizer.partition("(")[0].rpartition(".")[2]
    assert told(run) == [(key, "net.0.weight", name, False)]
    (record,) = run.of(NonfiniteRecord)
    assert (record.birth, record.step, record.cause, record.module) == (Birth.UPDATE, 6, Cause.BAD_STATE, "net.0")
    assert record.place.source == "opt.step()"
    (finding,) = (each for each in run.findings if each.rule == "nonfinite-forward")
    assert finding.title == f"update: {key} of net.0.weight in {name} was non-finite before the step, seen at step 6"


def test_an_infinite_mean_is_named_before_it_spreads(run_cell):
    spoil = "state['exp_avg'][0, 0] = float('inf')\nfit(2)"
    run, _ = run_cell(trained(spoil, before=8), anomaly="raise", raises=NonFiniteError)
    assert (run.steps, told(run)) == (8, [("exp_avg", "net.0.weight", "Adam", False)])


def test_a_state_is_named_before_it_spreads_at_the_steps_that_are_looked_at(run_cell):
    spoil = "state['exp_avg_sq'][0, 0] = float('nan')\nfit(2)"
    run, names = run_cell(trained(spoil, before=8), anomaly="raise", raises=NonFiniteError)
    assert (run.steps, told(run)) == (8, [("exp_avg_sq", "net.0.weight", "Adam", False)])
    assert all(torch.isfinite(each).all() for each in names["net"].parameters())
    run, names = run_cell(trained(spoil, before=5), anomaly="raise", raises=NonFiniteError)
    assert run.steps == 6
    assert not torch.isfinite(names["net"][0].weight).all()


def test_a_state_that_an_earlier_cell_left_is_named_before_the_first_step(run_cell):
    _, names = run_cell(trained("state['exp_avg'][0, 0] = float('nan')"), anomaly="off")
    run, _ = run_cell("fit(3)", names=names, anomaly="raise", raises=NonFiniteError)
    assert (run.steps, told(run)) == (0, [("exp_avg", "net.0.weight", "Adam", False)])


def test_a_state_that_the_last_step_used_is_told_as_the_run_ends(run_cell):
    run, _ = run_cell(
        trained("net[0].weight.grad = None\nopt.state[net[2].bias]['exp_avg'].fill_(float('nan'))", before=6)
    )
    assert told(run) == [("exp_avg", "net.2.bias", "Adam", False)]


@pytest.mark.parametrize(
    ("optimizer", "key"),
    [
        (ADAM, "exp_avg_sq"),
        ("torch.optim.Adam(net.parameters(), lr=0.01, amsgrad=True)", "max_exp_avg_sq"),
        ("torch.optim.Adagrad(net.parameters(), lr=0.01)", "sum"),
    ],
)
def test_a_moment_that_is_infinite_silences_its_weights_and_is_a_warning(run_cell, optimizer, key):
    run, names = run_cell(
        trained(f"state['{key}'][1] = float('inf')\nheld = net[0].weight[1].clone()\nfit(8)", optimizer=optimizer)
    )
    assert torch.equal(names["held"], names["net"][0].weight[1])  # it is true
    assert told(run) == [(key, "net.0.weight", optimizer.partition("(")[0].rpartition(".")[2], True)]
    (finding,) = (each for each in run.findings if each.rule == "nonfinite-forward")
    assert finding.severity == "warning"
    assert "no longer updated" in finding.title


def test_gradients_whose_squares_overflow_silence_their_weights(run_cell):
    run, _ = run_cell(
        trained("for i in range(4):\n    opt.zero_grad()\n    (1e22 * net(x)).mean().backward()\n    opt.step()")
    )
    assert {each.silences for each in run.of(NonfiniteRecord)} == {True}
    assert {each.state for each in run.of(NonfiniteRecord)} == {"exp_avg_sq"}


def test_a_silent_moment_does_not_hide_the_origin_that_comes_later(run_cell):
    run, _ = run_cell(trained("state['exp_avg_sq'][1] = float('inf')\nfit(8)\nx = x * float('nan')\nfit(1)"))
    assert [(each.birth, each.silences) for each in run.of(NonfiniteRecord)] == [
        (Birth.UPDATE, True),
        (Birth.INPUT, False),
    ]


@pytest.mark.parametrize(
    "code",
    [
        "fit(20)",
        "state['best'] = torch.full((8, 4), float('inf'))\nstate['d0'] = torch.tensor(float('inf'))\nfit(20)",
        "state['hidden'] = torch.full((3,), float('nan'))\nfit(20)",
    ],
)
@pytest.mark.parametrize("optimizer", [ADAM, "torch.optim.Rprop(net.parameters(), lr=0.01)"])
def test_states_that_are_well_or_of_the_users_own_are_silent(run_cell, code, optimizer):
    run, _ = run_cell(trained(code, optimizer=optimizer))
    assert told(run) == []


def test_an_optimizer_that_forgot_a_bad_state_is_silent(run_cell):
    run, _ = run_cell(trained("state['exp_avg'][0] = float('nan')\nopt.state.clear()\nfit(20)"))
    assert told(run) == []


def test_a_rate_that_is_infinite_is_no_fault_of_a_state(run_cell):
    run, _ = run_cell(trained("opt.param_groups[0]['lr'] = float('inf')\nfit(2)"))
    (record,) = run.of(NonfiniteRecord)
    assert (record.birth, record.state, record.cause) == (Birth.UPDATE, None, Cause.BAD_CONSTANT)


def test_looking_changes_no_bit(run_cell):
    code = "state['exp_avg_sq'][1] = float('inf')\nfit(8)\nafter = torch.rand(3)"
    (_, off), (_, on) = (run_cell(trained(code), anomaly=each) for each in ("off", "auto"))
    assert torch.equal(off["after"], on["after"])
    for name, value in off["net"].state_dict().items():
        assert torch.equal(value, on["net"].state_dict()[name]), name
    for before, after in zip(off["opt"].state.values(), on["opt"].state.values(), strict=True):
        assert all(torch.equal(before[key], after[key]) for key in before)
