"""This file tests that TorchScript compiles and traces in a watched cell what it does in a bare one."""

import pytest
import torch
from torch import nn
from torch.jit import _builtins
from torch.nn import functional

from torchmagic.debuggers.watching import watch
from torchmagic.records.note import FailureRecord

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::torch.jit.TracerWarning")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(5, 3)

    def forward(self, x):
        hidden = functional.relu(self.linear(x)) + torch.sigmoid(x[:, :3]) + torch.relu(x[:, :3])
        return torch.softmax(hidden, 1) + functional.softmax(hidden, dim=1)


def train(net):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        functional.cross_entropy(net(torch.randn(8, 5)), torch.randint(0, 3, (8,))).backward()
        optimizer.step()


@pytest.mark.parametrize("compile_", [torch.jit.script, lambda net: torch.jit.trace(net, torch.randn(4, 5))])
def test_a_model_compiled_while_watched_answers_as_the_model_does(compile_):
    net, x = Net(), torch.randn(6, 5)
    with watch(save=False, level="expert", every=1) as run:
        train(Net())
        compiled = compile_(net)
        train(compiled)
        net.load_state_dict(compiled.state_dict())
    assert torch.equal(compiled(x), net(x))
    assert not run.of(FailureRecord)


def test_a_loss_compiled_while_watched_is_torchs_own():
    def loss(x: torch.Tensor, y: torch.Tensor):
        return functional.cross_entropy(x, y)

    with watch(save=False):
        compiled = torch.jit.script(loss)
    x, y = torch.randn(4, 3), torch.tensor([0, 1, 2, 0])
    assert torch.equal(compiled(x, y), functional.cross_entropy(x, y))


def test_a_trace_holds_nothing_of_ours():
    net, x = nn.Sequential(nn.Linear(5, 3), nn.ReLU(), nn.Dropout()).eval(), torch.randn(4, 5)
    bare = torch.jit.trace(net, x)
    with watch(save=False, every=1):
        ours = torch.jit.trace(net, x)
    assert [node.kind() for node in ours.inlined_graph.nodes()] == [node.kind() for node in bare.inlined_graph.nodes()]


def test_the_table_of_operators_keeps_no_wrapper():
    with watch(save=False, level="expert", every=1):
        train(Net())
        wrapper = id(functional.softmax), id(torch.softmax)
    assert not set(wrapper) & set(_builtins._get_builtin_table())
    assert id(torch.softmax) in _builtins._get_builtin_table()
