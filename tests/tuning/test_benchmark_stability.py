"""The same mode against itself is no difference: by the machine's own clock, however busy it is."""

import ast

import pytest
import torch
from torch import nn

from torchmagic.tuning.benchmark import benchmark
from torchmagic.tuning.modes import OptimizationMode
from torchmagic.tuning.own_loop.bench import Bench
from torchmagic.tuning.own_loop.first_step import CellCode

RUNS, LEAST = 20, 19
LOOP = """
for x, y in loader:
    optimizer.zero_grad()
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
"""
NONE = [OptimizationMode.NONE]


@pytest.mark.parametrize("name", ["mlp", "rnn"])
def test_a_mode_against_itself_is_no_difference_in_nineteen_of_twenty(case, name):
    one = case(name)
    plan = one.plan(seconds=None, groups=one.plan().groups * 10, num_steps=30)
    found = [benchmark(one.training, NONE, plan).rows[0].speedup for _ in range(RUNS)]
    assert [each.verdict for each in found].count("no difference") >= LEAST


def test_a_cells_own_loop_against_itself_is_no_difference_in_nineteen_of_twenty():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 3))
    names = {"__name__": "__main__", "F": nn.functional, "model": model}
    names["optimizer"] = torch.optim.Adam(model.parameters())
    names["loader"] = [(torch.randn(32, 20), torch.randint(0, 3, (32,))) for _ in range(10)]
    bench = Bench(CellCode(tree=ast.parse(LOOP), file="<loop>", namespace=names))
    for _ in bench.rows(NONE * RUNS, num_steps=30):
        pass
    assert [each.verdict for each in bench.record.modes].count("no difference") >= LEAST
    assert not bench.record.recommended
