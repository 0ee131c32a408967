"""This file tests what is told of the beginning of training, on cells that are run."""

import torch
from torch import nn

from torchmagic.analyses.run_facts import layer_facts, seed_of
from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch
from torchmagic.probes.beginning import Beginning
from torchmagic.probes.layer_settings import layer_settings
from torchmagic.records.beginning import BeginningRecord
from torchmagic.records.note import EnvironmentRecord
from torchmagic.session.session import Session
from torchmagic.views.comparison_verdict import verdict_sentence

TRAINING = """
torch.manual_seed({seed})
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Dropout({dropout}), nn.Linear(8, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum={momentum})
x, y = torch.randn(64, 4), torch.randn(64, 2)
for _ in range(20):
    opt.zero_grad()
    F.mse_loss(net(x[:{rows}]), y[:{rows}]).backward()
    opt.step()
"""
# Trains what an earlier cell made, so that its own source is always the same.
LOOP = """
prepare()
for _ in range(20):
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    opt.step()
"""


def source_of(**given):
    return TRAINING.format(**({"seed": 7, "momentum": 0.0, "rows": 64, "dropout": 0.0} | given))


def trained(run_cell, **given):
    return run_cell(source_of(**given))[0]


def opened_with(seed):
    """Run the training, which seeds itself, in a run that opens with another seed."""
    torch.manual_seed(seed)
    watching = Watch(Settings(save=False), source=source_of(), session=Session())
    with watching as run:
        exec(source_of(), {"torch": torch, "nn": nn, "F": nn.functional})  # noqa: S102 - the source is ours
    return run


def looped(run_cell, *, prepare=lambda: None, **names):
    """Run only the loop on things that were made before."""
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 2))
    made = {"net": net, "opt": torch.optim.SGD(net.parameters(), lr=0.1), "prepare": prepare}
    made |= {"x": torch.randn(16, 4), "y": torch.randn(16, 2)}
    return run_cell(LOOP, names=made | names)[0]


def verdict(one, other):
    return verdict_sentence(one, other, of="run 1", name="run 2")


def test_it_is_told_once_with_seed_batch_and_layers(run_cell):
    (record,) = trained(run_cell, dropout=0.25, rows=16).of(BeginningRecord)
    assert (record.seed, record.model, record.batch_size) == (7, "net", 16)
    assert (record.layers["Linear layers"], record.layers["Dropout p"]) == ("2", "0.25")
    assert record.values
    assert record.random


def test_runs_that_seed_themselves_alike_do_not_differ_by_seed():
    one, other = opened_with(11), opened_with(12)
    assert [run.of(EnvironmentRecord)[0].seed for run in (one, other)] == [11, 12]
    assert verdict(one, other).startswith("No difference found between run 1 and run 2 in source, training, layers")


def test_runs_that_seed_themselves_otherwise_differ_by_that_seed(run_cell):
    assert "differs from run 1 by seed 7 → 8" in verdict(trained(run_cell), trained(run_cell, seed=8))


def test_a_run_that_trains_nothing_tells_the_seed_that_it_set(run_cell):
    run, _ = run_cell("torch.manual_seed(5)\nwith torch.no_grad():\n    nn.Linear(2, 2)(torch.ones(1, 2))\n")
    assert seed_of(run) == 5
    assert layer_facts(run) == {}
    assert not run_cell("nn.Linear(2, 2)")[0].of(BeginningRecord)


def test_a_model_that_is_evaluated_first_has_not_begun(run_cell):
    run, _ = run_cell("nn.Linear(4, 2).eval()(torch.randn(3, 4))\n" + TRAINING.format(
        seed=7, momentum=0, rows=8, dropout=0
    ))  # fmt: skip
    assert [(each.seed, each.batch_size) for each in run.of(BeginningRecord)] == [(7, 8)]


def test_training_without_a_model_begins_with_its_backward(run_cell):
    run, _ = run_cell(
        "torch.manual_seed(3)\nw = torch.zeros(2, requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\n"
        "(w - 1).square().sum().backward()\nopt.step()\ntorch.manual_seed(4)\n"
    )
    assert [(each.seed, each.model) for each in run.of(BeginningRecord)] == [(3, "")]


def test_momentum_batch_size_and_dropout_are_named(run_cell):
    one = trained(run_cell)
    assert "by momentum 0 → 0.9 and" in verdict(one, trained(run_cell, momentum=0.9))
    assert "by batch size given to the model 64 → 8" in verdict(one, trained(run_cell, rows=8))
    assert "by Dropout p 0.0 → 0.5" in verdict(one, trained(run_cell, dropout=0.5))


def test_other_data_and_other_random_numbers_of_one_seed_are_told_and_no_cause_is_made_up(run_cell):
    one = looped(run_cell)
    data = verdict(one, looped(run_cell, x=torch.ones(16, 4)))
    assert data.startswith("Run 2 differs from run 1 by the values that the model was first given; ")
    drawn = verdict(one, looped(run_cell, prepare=lambda: torch.rand(3)))
    assert "by torch's random numbers, which came from another place of the same seed's sequence" in drawn
    assert not any("seed would explain" in each for each in (data, drawn))


def test_what_nothing_recorded_explains_is_said_to_be_so(run_cell):
    dropped = [looped(run_cell, F=Halved(scale)) for scale in (1.0, 0.5)]
    said = verdict(*dropped)
    assert said.startswith("Nothing recorded of what run 2 was given differs from run 1 in source, training, layers")
    assert "What is not recorded may explain it: later data, values set outside of the source" in said
    assert "seed" not in said
    assert "given the same" not in said


class Halved:
    """A loss whose scale an earlier cell has set."""

    def __init__(self, scale):
        self._scale = scale

    def mse_loss(self, output, target):
        return (output - target).square().mean() * self._scale


def test_layers_of_a_users_own_class_are_counted_and_not_asked():
    class Mine(nn.Dropout):
        __constants__ = ("secret",)

        def __getattr__(self, name):
            raise RuntimeError(name)

    model = nn.Sequential(Mine(0.5), nn.Conv2d(3, 4, 3, stride=2), nn.Dropout(0.1), nn.Dropout(0.2))
    found = layer_settings(model)
    assert (found["Mine layers"], found["Dropout layers"], found["Dropout p"]) == ("1", "2", "0.1, 0.2")
    assert found["Conv2d stride"] == "2 2"
    assert not any(name.startswith("Mine ") and name != "Mine layers" for name in found)


def test_nothing_is_heard_any_more_once_training_began():
    net = nn.Linear(2, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    watching = Watch(Settings(save=False), namespace={"net": net, "opt": opt}, session=Session())
    watching.start()
    for _ in range(3):
        net(torch.ones(4, 2)).sum().backward()
        opt.step()
    awake = watching._taps.listeners.awake
    heard = [event for event, each in awake.items() if any(isinstance(one.__self__, Beginning) for one in each)]
    watching.stop()
    assert heard == []
