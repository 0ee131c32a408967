"""A copy of a training shares nothing with it, and goes on as it would."""

import pytest
import torch
from torch import nn

from torchmagic.tuning.batches import batch_of
from torchmagic.tuning.copies import NoCopyError, Training, copied
from torchmagic.tuning.setup import Setup
from torchmagic.tuning.training_step import TrainingStep


def trained(training, batches, steps=3):
    setup = Setup(model=training.model, call=training.model, optimizer=training.optimizer)
    step = TrainingStep(setup, training.criterion)
    return [
        float(step([batch_of(each, torch.device("cpu"), has_criterion=True)])) for each in (batches * steps)[:steps]
    ]


@pytest.mark.parametrize("optimizer", [torch.optim.Adam, torch.optim.SGD, torch.optim.Adagrad, torch.optim.RMSprop])
@pytest.mark.parametrize("name", ["mlp", "cnn", "tied", "rnn"])
def test_a_copy_goes_on_as_the_original_does(case, name, optimizer, state_of, are_equal):
    one = case(name, optimizer)
    trained(one.training, one.batches)
    copy = copied(one.training)
    before = state_of(one.training)
    losses = trained(copy, one.batches)
    assert are_equal(state_of(one.training), before)
    assert trained(one.training, one.batches) == losses
    shared = {each.data_ptr() for each in one.training.model.parameters()}
    assert not shared & {each.data_ptr() for each in copy.model.parameters()}


def test_what_is_tied_stays_tied_in_the_copy(case):
    copy = copied(case("tied").training)
    assert copy.model.head.weight is copy.model.embedding.weight


def test_a_scheduler_and_hooks_of_the_original_are_not_run_by_the_copy(case):
    one = case("mlp")
    torch.optim.lr_scheduler.StepLR(one.training.optimizer, 1)  # puts a method of its own around the step
    steps = []
    one.training.optimizer.register_step_post_hook(lambda *_: steps.append(1))
    trained(copied(one.training), one.batches)
    assert steps == []
    trained(one.training, one.batches, 1)
    assert steps == [1]


def test_an_optimizer_with_things_of_its_own_is_copied_whole(case):
    one = case("mlp", lambda parameters, lr: torch.optim.LBFGS(parameters, lr=lr))
    copy = copied(one.training)
    x, y = one.batches[0]

    def closure():
        copy.optimizer.zero_grad()
        loss = copy.criterion(copy.model(x), y)
        loss.backward()
        return loss

    before = [each.clone() for each in one.training.model.parameters()]
    first = copy.optimizer.step(closure).item()
    assert closure().item() < first
    assert all(map(torch.equal, before, one.training.model.parameters()))


def test_a_criterion_with_parameters_is_trained_by_the_copied_optimizer():
    model, criterion = nn.Linear(2, 2), nn.PReLU()
    optimizer = torch.optim.SGD([*model.parameters(), *criterion.parameters()], lr=0.1)
    copy = copied(Training(model=model, optimizer=optimizer, criterion=criterion))
    stepped = {id(each) for group in copy.optimizer.param_groups for each in group["params"]}
    assert stepped == {id(each) for each in (*copy.model.parameters(), *copy.criterion.parameters())}


def test_an_optimizer_of_another_model_is_told():
    optimizer = torch.optim.SGD(nn.Linear(2, 2).parameters(), lr=0.1)
    with pytest.raises(NoCopyError, match="in neither model nor criterion"):
        copied(Training(model=nn.Linear(2, 2), optimizer=optimizer))


def test_what_refuses_to_be_copied_is_told_in_one_line(case):
    one = case("mlp")
    one.training.model.lines = (line for line in "ab")
    with pytest.raises(NoCopyError, match="the model cannot be copied") as caught:
        copied(one.training)
    assert "\n" not in str(caught.value)


def test_hooks_of_the_user_stay_behind_and_those_of_torch_come_along():
    model = nn.Sequential(nn.utils.spectral_norm(nn.Linear(3, 3)), nn.Linear(3, 3))
    calls = []
    model[1].register_forward_hook(lambda *_: calls.append(1))
    model.register_full_backward_hook(lambda *_: calls.append(2))
    copy = copied(Training(model=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1)))
    before = copy.model[0].weight.clone()
    inputs = torch.ones(2, 3, requires_grad=True)
    copy.model(inputs).sum().backward()
    assert calls == []
    assert copy.num_left_hooks == 2
    assert not torch.equal(copy.model[0].weight, before)
    model(inputs).sum().backward()
    assert calls == [1, 2]
