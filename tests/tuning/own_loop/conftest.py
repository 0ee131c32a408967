"""This file is cells as people write them, and a notebook's namespace to measure them in."""

import ast
import copy
import linecache
import random

import numpy as np
import pytest
import torch
from torch import nn

from torchmagic.tuning.modes import OptimizationMode
from torchmagic.tuning.own_loop.bench import Bench
from torchmagic.tuning.own_loop.first_step import CellCode

SETUP = """
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.2))
        self.head = nn.Linear(16, 3)
    def forward(self, x):
        self.last = self.body(x)
        return self.head(self.last)

model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss()
dataset = TensorDataset(torch.randn(40, 6), torch.randint(0, 3, (40,)))
loader = DataLoader(dataset, batch_size=8, shuffle=True, generator=torch.Generator().manual_seed(0))
x, y = torch.randn(8, 6), torch.randint(0, 3, (8,))
losses = []
"""


class Notebook:
    """A namespace as a notebook's, and what a measured cell must not change in it."""

    def __init__(self):
        torch.manual_seed(3)
        self.names = {"__name__": "__main__"}
        self.run(SETUP)

    def run(self, source):
        file = f"<cell {random.getrandbits(60)}>"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        exec(compile(source, file, "exec"), self.names)  # noqa: S102 - a cell

    def bench(self, source, **fields):
        file = "<measured cell>"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        return Bench(CellCode(tree=ast.parse(source), file=file, namespace=self.names), **fields)

    def measured(self, source, *modes, seconds=None, **fields):
        """Return what is found of a cell."""
        bench = self.bench(source, **fields)
        for _ in bench.rows([OptimizationMode(mode) for mode in modes], num_steps=4, seconds=seconds):
            pass
        return bench.record

    def state(self):
        """Return everything that must be as before, deep enough to be compared bit by bit."""
        names = {name: value for name, value in self.names.items() if name != "__builtins__"}
        model, optimizer = names["model"], names["optimizer"]
        return {
            "names": {name: id(value) for name, value in names.items()},
            "weights": copy.deepcopy(model.state_dict()),
            "gradients": [None if each.grad is None else each.grad.clone() for each in model.parameters()],
            "attributes": sorted(vars(model)),
            "optimizer": copy.deepcopy(optimizer.state_dict()),
            "losses": list(names["losses"]),
            "loader": names["loader"].generator.get_state(),
            "streams": [torch.get_rng_state(), random.getstate(), np.random.get_state()[1].copy()],  # noqa: NPY002
            "hooks": len(nn.modules.module._global_forward_pre_hooks),
            "backward": torch.Tensor.backward,
        }


@pytest.fixture
def notebook():
    return Notebook()
