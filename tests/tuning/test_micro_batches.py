"""Micro-batches are used where they give the same, and only there."""

import pytest
import torch
from torch import nn

from torchmagic.tuning.optimize import optimize_model

USED, UNUSED = "batches run in 3 micro-batches", "depend on the whole batch or on chance"


def gradients(run, model, inputs, target, criterion=None):
    model.zero_grad()
    (criterion or nn.functional.cross_entropy)(run(inputs), target).backward()
    return [each.grad.clone() for each in model.parameters()]


@pytest.mark.parametrize("name", ["mlp", "cnn without norm", "transformer", "rnn", "tied"])
def test_gradients_of_any_loss_are_equal(case, name):
    one = case(name)
    model, (inputs, target) = one.training.model, one.batches[0]
    optimised = optimize_model(model, "memory_efficient", micro_batches=3)
    weights = torch.rand(20)

    def criterion(outputs, target):  # one that no part of the batch could compute alone
        weighed = nn.functional.cross_entropy(outputs, target, weight=weights[: outputs.shape[1]])
        return weighed + outputs.std() * outputs.max()

    expected = gradients(model, model, inputs, target, criterion)
    for _ in range(2):  # the first call looks whether pieces give the same
        torch.testing.assert_close(gradients(optimised, model, inputs, target, criterion), expected)
    assert USED in " ".join(optimised.optimization_metrics.notes)


@pytest.mark.parametrize("name", ["cnn", "dropout", "transformer with dropout"])
def test_where_outputs_depend_on_the_batch_or_on_chance_the_batch_stays_whole(case, name):
    one = case(name)
    model, (inputs, target) = one.training.model, one.batches[0]
    start = {key: each.clone() for key, each in model.state_dict().items()}
    torch.manual_seed(5)
    expected = [gradients(model, model, inputs, target), gradients(model, model, inputs, target)]
    after = {key: each.clone() for key, each in model.state_dict().items()}
    model.load_state_dict(start)
    optimised = optimize_model(model, "memory_efficient", micro_batches=3)
    torch.manual_seed(5)
    found = [gradients(optimised, model, inputs, target), gradients(optimised, model, inputs, target)]
    assert all(
        torch.equal(*pair) for one, other in zip(expected, found, strict=True) for pair in zip(one, other, strict=True)
    )
    assert all(torch.equal(each, after[key]) for key, each in model.state_dict().items())
    assert UNUSED in " ".join(optimised.optimization_metrics.notes)


def test_time_in_the_first_dimension_is_not_cut():
    torch.manual_seed(0)
    model = nn.RNN(4, 4)
    optimised = optimize_model(model, "memory_efficient", micro_batches=3)
    inputs = torch.randn(9, 2, 4)
    for _ in range(2):
        assert torch.equal(optimised(inputs)[0], model(inputs)[0])
    assert not optimised.optimization_metrics.checkpointing_enabled
    assert UNUSED in optimised.optimization_metrics.notes[0]


def test_dropout_in_evaluation_mode_does_not_stand_in_the_way(case):
    one = case("dropout")
    optimised = optimize_model(one.training.model, "memory_efficient", micro_batches=3)
    optimised.eval()
    optimised(one.batches[0][0])
    assert USED in " ".join(optimised.optimization_metrics.notes)


def test_pieces_are_what_is_run(case):
    one = case("rnn")
    optimised = optimize_model(one.training.model, "memory_efficient", micro_batches=3)
    sizes = []
    optimised(one.batches[0][0])
    one.training.model.lstm.register_forward_hook(lambda _module, args, _output: sizes.append(len(args[0])))
    optimised(one.batches[0][0]).sum().backward()
    assert (sizes[:3], sorted(sizes[3:])) == ([2, 3, 3], [2, 3, 3])
