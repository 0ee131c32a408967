"""This file tests what is told of the state in which a cell found torch, its optimizers and its hooks."""

import pytest
import torch
from torch import nn

from torchmagic.records.notebook import (
    GlobalModesRecord,
    LeftoverGradientsRecord,
    OptimizerStateRecord,
    RepeatedHookRecord,
)

TRAIN = """
for _ in range(3):
    nn.functional.mse_loss(net(x), y).backward()
    optimizer.step()
    optimizer.zero_grad()
"""
RESET_FIRST = """
for _ in range(3):
    optimizer.zero_grad(set_to_none={})
    nn.functional.mse_loss(net(x), y).backward()
    optimizer.step()
"""


@pytest.fixture
def names():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 1))
    return {"net": net, "optimizer": torch.optim.Adam(net.parameters()), "x": torch.randn(8, 4), "y": torch.randn(8, 1)}


def look(names):
    nn.functional.mse_loss(names["net"](names["x"]), names["y"]).backward()


def test_a_fresh_kernel_has_no_modes_to_tell_of(run_cell, names):
    run, _ = run_cell(TRAIN, names=names)
    assert not run.of(GlobalModesRecord)


def test_modes_are_those_with_which_the_cell_began(run_cell, names):
    torch.use_deterministic_algorithms(True)
    try:
        run, _ = run_cell("torch.use_deterministic_algorithms(False)\n" + TRAIN, names=names)
    finally:
        torch.use_deterministic_algorithms(False)
    (record,) = run.of(GlobalModesRecord)
    assert record.changed == {"torch.use_deterministic_algorithms": "True"}
    assert record.kept == ()


def test_an_optimizer_that_is_new_has_no_state(run_cell, names):
    run, _ = run_cell(TRAIN, names=names)
    assert not run.of(OptimizerStateRecord)


def test_a_state_that_is_prepared_as_an_optimizer_is_built_is_none_of_earlier_steps(run_cell, names):
    names["optimizer"] = torch.optim.Adagrad(names["net"].parameters())
    run, _ = run_cell(TRAIN, names=names)
    assert not run.of(OptimizerStateRecord)
    run, _ = run_cell(TRAIN, names=names)
    assert [(each.optimizer, each.steps) for each in run.of(OptimizerStateRecord)] == [("optimizer", 3)]


def test_an_optimizer_tells_how_many_steps_it_brings_along(run_cell, names):
    run_cell(TRAIN, names=names)
    run, _ = run_cell(TRAIN, names=names)
    (record,) = run.of(OptimizerStateRecord)
    assert (record.optimizer, record.steps) == ("optimizer", 3)
    assert {"exp_avg", "exp_avg_sq"} <= set(record.keys)


def test_momentum_brings_no_number_of_steps(run_cell, names):
    names["optimizer"] = torch.optim.SGD(names["net"].parameters(), lr=0.1, momentum=0.9)
    run_cell(TRAIN, names=names)
    run, _ = run_cell(TRAIN, names=names)
    (record,) = run.of(OptimizerStateRecord)
    assert (record.steps, record.keys) == (None, ("momentum_buffer",))


def test_old_gradients_in_the_first_step_are_weighed(run_cell, names):
    look(names)
    run, _ = run_cell(TRAIN, names=names)
    (record,) = run.of(LeftoverGradientsRecord)
    assert (record.optimizer, record.num_parameters, record.total) == ("optimizer", 4, 4)
    assert record.share == pytest.approx(0.5)  # the same batch twice


@pytest.mark.parametrize("set_to_none", [True, False])
def test_gradients_that_were_reset_first_are_not_told(run_cell, names, set_to_none):
    look(names)
    run, _ = run_cell(RESET_FIRST.format(set_to_none), names=names)
    assert not run.of(LeftoverGradientsRecord)


def hang(names, times, make=lambda: lambda *_: None):
    for _ in range(times):
        names["net"][0].register_forward_hook(make())


def test_a_hook_made_anew_each_time_is_known_again(run_cell, names):
    hang(names, 2)
    run, _ = run_cell(TRAIN, names=names)
    (record,) = run.of(RepeatedHookRecord)
    assert (record.subject, record.count, record.at_start) == ("net.0", 2, 2)
    assert record.how == "register_forward_hook"


def test_one_hook_is_no_pile(run_cell, names):
    hang(names, 1)
    run, _ = run_cell(TRAIN, names=names)
    assert not run.of(RepeatedHookRecord)


def test_hooks_that_differ_in_what_they_close_over_are_different(run_cell, names):
    labels = iter("ab")

    def make():
        label = next(labels)
        return lambda *_: label and None

    hang(names, 2, make)
    run, _ = run_cell(TRAIN, names=names)
    assert not run.of(RepeatedHookRecord)


def test_hooks_of_a_parameter_are_seen(run_cell, names):
    for _ in range(3):
        names["net"][0].weight.register_post_accumulate_grad_hook(lambda *_: None)
    run, _ = run_cell(TRAIN, names=names)
    (record,) = run.of(RepeatedHookRecord)
    assert (record.subject, record.count) == ("net.0.weight", 3)
    assert record.how == "register_post_accumulate_grad_hook"


def test_torchs_own_hooks_are_none_of_the_users(run_cell, names):
    nn.utils.parametrizations.spectral_norm(names["net"][0])
    nn.utils.spectral_norm(names["net"][1])
    run, _ = run_cell(TRAIN, names=names)
    assert not run.of(RepeatedHookRecord)
