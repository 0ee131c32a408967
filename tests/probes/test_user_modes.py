"""This file tests that modes which the user puts around operators see the training and nothing of torchmagic's."""

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from torchmagic.debuggers.watching import watch
from torchmagic.records.note import FailureRecord


class Functions(TorchFunctionMode):
    def __init__(self):
        self.number = 0

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.number += 1
        return func(*args, **(kwargs or {}))


class Operators(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.number = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.number += 1
        return func(*args, **(kwargs or {}))


class Flops(FlopCounterMode):
    def __init__(self):
        super().__init__(display=False)

    @property
    def number(self):
        return self.get_total_flops()


def counted(kinds):
    """Return what modes of some kinds, one in the other, count over a training."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    data = [(torch.randn(16, 8), torch.randint(0, 2, (16,))) for _ in range(12)]
    modes = [kind() for kind in kinds]
    for x, y in data:
        for mode in modes:
            mode.__enter__()
        opt.zero_grad()
        functional.cross_entropy(net(x), y).backward()
        opt.step()
        for mode in reversed(modes):
            mode.__exit__(None, None, None)
    return [mode.number for mode in modes]


@pytest.mark.parametrize("level", ["basic", "advanced", "expert"])
@pytest.mark.parametrize("kinds", [[Functions], [Operators], [Flops], [Functions, Operators, Functions, Operators]])
def test_modes_of_the_users_count_the_training_alone(kinds, level):
    bare = counted(kinds)
    with watch(save=False, level=level) as run:
        watched = counted(kinds)
    assert watched == bare
    assert all(bare)
    assert run.steps == 12
    assert not run.of(FailureRecord)
    assert not torch._C._len_torch_dispatch_stack() + torch._C._len_torch_function_stack()
