"""This file tests which modules the loops of a function are known to hand to names of its own."""

import ast

import pytest
from torch import nn

from torchmagic.probes.loop_members import loop_members
from torchmagic.probes.origin_purity import value_of


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])
        self.norms = nn.ModuleList([nn.LayerNorm(2), nn.LayerNorm(2)])
        self.heads = nn.ModuleDict({"a": nn.Linear(2, 1)})
        self.none = nn.ModuleList()


NET = Net()
FIRST, NORM, HEAD = NET.layers[0], NET.norms[0], NET.heads["a"]


@pytest.mark.parametrize(
    ("loop", "members"),
    [
        ("for layer in self.layers: layer(x)", {"layer": FIRST}),
        ("for layer in reversed(self.layers): layer(x)", {"layer": FIRST}),
        ("for i, layer in enumerate(self.layers): layer(x)", {"layer": FIRST}),
        ("for layer, norm in zip(self.layers, self.norms): layer(norm(x))", {"layer": FIRST, "norm": NORM}),
        ("for i, (l, n) in enumerate(zip(self.layers, self.norms)): l(n(x))", {"l": FIRST, "n": NORM}),
        ("for name, head in self.heads.items(): head(x)", {"head": HEAD}),
        ("y = [head(x) for head in self.heads.values()]", {"head": HEAD}),
        ("for i in range(3): x = x + i", {}),
        ("for row in x: print(row)", {}),
        ("for layer in self.none: layer(x)", {}),
        ("for layer, norm in zip(self.layers): layer(x)", {}),
        ("for layer in self.heads.values: layer(x)", {}),
    ],
)
def test_loops_over_modules_tell_what_their_names_are(loop, members):
    assert dict(loop_members(ast.parse(loop).body, {"self": NET}, value_of)) == members
