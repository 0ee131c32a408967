"""This file tests what is told of an objective, on cells that are run."""

import math

import pytest

from torchmagic.analyses.objective import chance_level, single_objective
from torchmagic.records.objective import ObjectiveRecord

SETUP = """
x, y = torch.randn(64, 4), torch.randint(0, 3, (64,))
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
weights = torch.randn(64)
def ce(**kwargs):
    return F.cross_entropy(net(x), y, **kwargs)
"""


def told(run_cell, loss, steps=3):
    body = f"    opt.zero_grad()\n    loss = {loss}\n    loss.backward()\n    opt.step()\n"
    source = f"{SETUP}for _ in range({steps}):\n{body}"
    run, _ = run_cell(source)
    return run, run.of(ObjectiveRecord)[-1]


@pytest.mark.parametrize(
    ("loss", "sign", "scale", "mixed"),
    [
        ("ce()", 1, 1.0, False),
        ("-ce()", -1, 1.0, False),
        ("1 - ce()", -1, 1.0, False),
        ("ce() / 4", 1, 0.25, False),
        ("ce() * -0.5", -1, 0.5, False),
        ("-(-2 * ce())", 1, 2.0, False),
        ("ce(reduction='none').mean()", 1, 1.0, False),
        ("torch.stack([ce()]).sum()", 1, 1.0, False),
        ("ce() + 0.1 * net.weight.pow(2).sum()", 1, 1.0, True),
        ("ce(label_smoothing=0.1)", 1, 1.0, False),
    ],
)
def test_sign_and_scale_of_a_criterion_are_read_off_the_graph(run_cell, loss, sign, scale, mixed):
    _, record = told(run_cell, loss)
    assert (record.criteria, record.sign, record.mixed) in [
        (("cross_entropy",), sign, mixed),
        (("nll_loss",), sign, mixed),
    ]
    assert record.scale == pytest.approx(scale)


@pytest.mark.parametrize(
    ("loss", "name"),
    [
        ("F.l1_loss(net(x), torch.zeros(64, 3))", "l1_loss"),
        ("nn.KLDivLoss(reduction='batchmean')(net(x).log_softmax(1), torch.ones(64, 3) / 3)", "kl_div"),
        ("nn.functional.mse_loss(net(x), torch.zeros(64, 3)).sqrt()", "mse_loss"),
        ("nn.TripletMarginLoss()(net(x), torch.ones(64, 3), torch.zeros(64, 3))", "triplet_margin_loss"),
    ],
)
def test_criteria_that_are_made_of_several_operations_are_known_by_their_call(run_cell, loss, name):
    _, record = told(run_cell, loss)
    assert record.criteria == (name,)


@pytest.mark.parametrize("loss", ["(net(x) ** 2).mean()", "-net(x).log_softmax(1)[:, 0].mean()"])
def test_a_loss_by_hand_is_no_standard_criterion(run_cell, loss):
    run, record = told(run_cell, loss)
    assert record.criteria == ()
    assert single_objective(run) is None


def test_weights_of_both_signs_are_advantages(run_cell):
    run, record = told(run_cell, "(ce(reduction='none') * weights).mean()")
    assert record.weighted
    assert single_objective(run) is None


def test_a_log_probability_is_noticed_beside_a_criterion(run_cell):
    loss = "ce() - torch.distributions.Categorical(logits=net(x)).log_prob(y).mean()"
    run, record = told(run_cell, loss)
    assert record.log_prob
    assert single_objective(run) is None


def test_values_and_the_level_of_chance_are_recorded(run_cell):
    run, _ = told(run_cell, "2 * ce()")
    _, losses = run.series("loss")
    _, values = run.series("criterion", name="loss")
    _, levels = run.series("chance_loss", name="loss")
    assert values == pytest.approx([loss / 2 for loss in losses])
    assert 0.9 < levels[0] <= math.log(3)


@pytest.mark.parametrize("loss", ["ce(reduction='sum')", "ce(weight=torch.ones(3))", "ce(label_smoothing=0.1)"])
def test_an_altered_criterion_has_no_level_of_chance(run_cell, loss):
    run, record = told(run_cell, loss)
    assert record.altered
    assert run.series("chance_loss") == ([], [])


def test_the_level_of_chance_of_a_regression_is_the_spread_of_its_targets(run_cell):
    run, _ = told(run_cell, "F.mse_loss(net(x), x[:, :3])")
    assert run.series("chance_loss", name="loss")[1][0] == pytest.approx(1.0, abs=0.3)


@pytest.mark.parametrize("loss", ["F.mse_loss(net(x), target)", "F.l1_loss(net(x), target)"])
@pytest.mark.parametrize("value", ["math.nan", "math.inf"])
def test_targets_that_are_not_finite_say_nothing_of_chance(run_cell, loss, value):
    target = "target = torch.zeros(64, 3)\ntarget[:40, 0] = {value}\ntarget[:3] = -math.inf"
    run, _ = run_cell(f"import math\n{SETUP}{target.format(value=value)}\nloss = {loss}\nloss.backward()\nopt.step()\n")
    assert run.series("chance_loss") == ([], [])


def test_a_long_run_is_looked_at_ever_more_rarely(run_cell):
    run, _ = told(run_cell, "ce()", steps=200)
    assert len(run.of(ObjectiveRecord)) == 1
    assert len(run.series("criterion", name="loss")[0]) < 16


def test_the_level_of_chance_is_that_of_all_batches_together(run_cell):
    run, _ = run_cell("""
    model = nn.Linear(4, 10)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for label in range(10):
        loss = F.cross_entropy(model(torch.randn(32, 4)), torch.full((32,), label))
        opt.zero_grad()
        loss.backward()
        opt.step()
    """)
    _, levels = run.series("chance_loss", name="loss")
    assert levels[0] == 0
    assert levels[-1] > math.log(4)
    assert chance_level(run) >= levels[-1]
