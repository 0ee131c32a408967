"""This file tests that the parts of a module are those that torch finds, without the methods of its class."""

from collections import Counter
from typing import ClassVar
from unittest import mock

import pytest
import torch
from torch import nn

from torchmagic.probes.module_parts import (
    buffers_of,
    is_compiled,
    is_training,
    modules_of,
    named_buffers_of,
    named_modules_of,
    named_parameters_of,
    own_parameters_of,
    parameters_of,
    uncompiled,
)


def tied():
    net = nn.Sequential(nn.Embedding(4, 3), nn.Sequential(nn.BatchNorm1d(3), nn.ReLU()), nn.Linear(3, 4, bias=False))
    net[2].weight = net[0].weight
    net.add_module("again", net[1])
    net.register_module("nothing", None)
    return net


MODELS = (tied(), nn.LSTM(2, 3, num_layers=2), nn.TransformerEncoderLayer(4, 2), nn.ReLU(), nn.LazyLinear(2))


@pytest.mark.parametrize("net", [*MODELS, None], ids=lambda net: "script" if net is None else type(net).__name__)
@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
def test_parts_are_those_that_torch_finds_in_its_order(net):
    if net is None:
        net = torch.jit.script(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)))
    assert list(named_modules_of(net)) == list(net.named_modules())
    assert list(modules_of(net)) == list(net.modules())
    for ours, torchs in (
        (named_parameters_of(net), net.named_parameters()),
        (named_buffers_of(net), net.named_buffers()),
    ):
        assert [(name, id(each)) for name, each in ours] == [(name, id(each)) for name, each in torchs]
    assert [*map(id, parameters_of(net))] == [*map(id, net.parameters())]
    assert [*map(id, buffers_of(net))] == [*map(id, net.buffers())]
    assert [*map(id, own_parameters_of(net))] == [*map(id, net.parameters(recurse=False))]


class Counting(nn.Sequential):
    """Counts the calls of its methods."""

    calls: ClassVar = Counter()

    def _count(self, *_, **__):
        self.calls["called"] += 1
        return 7

    __hash__ = __eq__ = __getattr__ = named_modules = parameters = named_parameters = buffers = named_buffers = _count


def test_no_method_of_the_class_is_called():
    net = Counting()
    net._modules["inside"] = Counting()
    Counting.calls.clear()
    for each in (named_modules_of, parameters_of, named_parameters_of, buffers_of, own_parameters_of):
        list(each(net))
    assert uncompiled(net) is net
    assert not is_compiled(net)
    assert Counting.calls["called"] == 0


def test_a_mock_that_stands_in_for_a_part_is_none():
    net = nn.Sequential(nn.Linear(2, 2))
    net.add_module("encoder", mock.Mock(spec=nn.Module))
    assert [path for path, _ in named_modules_of(net)] == ["", "0"]
    assert len(list(parameters_of(net))) == 2


def test_what_was_compiled_is_known_by_what_it_was_made_of():
    net = nn.Linear(2, 2)
    compiled = torch.compile(net, backend="eager")
    assert uncompiled(compiled) is net
    assert is_compiled(compiled)
    assert not is_compiled(net)
    net.compile(backend="eager")
    assert is_compiled(net)


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
def test_frozen_torchscript_does_not_train():
    net = nn.Linear(2, 2)
    assert is_training(net)
    assert not is_training(torch.jit.freeze(torch.jit.script(net.eval())))
