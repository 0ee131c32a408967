"""What an optimizer is said to keep is what it keeps once it has stepped."""

import warnings

import pytest
import torch
from torch import nn

from torchmagic.debuggers.modelinfo import modelinfo

MAKERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1),
    "sgd-momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
    "amsgrad": lambda p: torch.optim.Adam(p, amsgrad=True),
    "adamax": torch.optim.Adamax,
    "nadam": torch.optim.NAdam,
    "radam": torch.optim.RAdam,
    "adadelta": torch.optim.Adadelta,
    "adagrad": torch.optim.Adagrad,
    "rprop": torch.optim.Rprop,
    "asgd": torch.optim.ASGD,
    "rmsprop": torch.optim.RMSprop,
    "centered rmsprop": lambda p: torch.optim.RMSprop(p, momentum=0.9, centered=True),
    "adafactor": getattr(torch.optim, "Adafactor", torch.optim.SGD),
}


def model_and_optimizer(make):
    model = nn.Sequential(nn.Linear(40, 30), nn.Linear(30, 5))
    model[0].bias.requires_grad_(requires_grad=False)
    return model, make(model.parameters())


def stepped(model, optimizer, *, counters=False):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model(torch.rand(3, 40)).sum().backward()
        optimizer.step()
    held = [each for state in optimizer.state.values() for each in state.values() if isinstance(each, torch.Tensor)]
    return sum(each.numel() * each.element_size() for each in held if each.dim() or counters)


@pytest.mark.parametrize("name", MAKERS)
def test_the_estimate_is_what_the_optimizer_keeps(name):
    model, optimizer = model_and_optimizer(MAKERS[name])
    estimated = modelinfo(model, optimizer=optimizer).record.memory[0]
    # Adagrad has its state from the beginning; the others are measured once they have stepped.
    assert estimated.is_measured == (name == "adagrad")
    assert estimated.state == stepped(model, optimizer, counters=estimated.is_measured)
    measured = modelinfo(model, optimizer=optimizer).record.memory[0]
    assert measured.is_measured or not estimated.state
    assert measured.state == stepped(model, optimizer, counters=True)


@pytest.mark.parametrize("name", [name for name in MAKERS if " " not in name and name != "adagrad"])
def test_a_name_stands_for_the_optimizer_with_its_usual_settings(name):
    model, optimizer = model_and_optimizer(MAKERS[name])
    assert modelinfo(model, optimizer=name).record.memory[0].state == stepped(model, optimizer)


def test_the_parts_add_up():
    model, _ = model_and_optimizer(MAKERS["adam"])
    memory = modelinfo(model, input_size=(3, 40), optimizer="adam").record.memory[0]
    trainable = 4 * (40 * 30 + 30 * 5 + 5)
    assert (memory.parameters, memory.gradients, memory.state) == (trainable + 4 * 30, trainable, 2 * trainable)
    assert (memory.batch, memory.activations) == (4 * 3 * 40, 4 * 3 * 30)
    assert memory.total == sum([trainable + 4 * 30, trainable, 2 * trainable, 4 * 3 * 40, 4 * 3 * 30])


def test_an_optimizer_that_nobody_knows_says_what_to_do():
    class Strange(torch.optim.SGD):
        pass

    model = nn.Linear(2, 2)
    with pytest.raises(ValueError, match="what Strange keeps is not known before its first step; step it once"):
        modelinfo(model, optimizer=Strange(model.parameters(), lr=0.1))


def test_nothing_to_train_takes_no_memory_of_training():
    assert modelinfo(nn.Linear(2, 2).requires_grad_(requires_grad=False)).record.memory == ()
