"""This file tests what is told of how layers are put together."""

import pytest

from torchmagic.records.structure import DirectFollowRecord, SingleSampleRecord

LOOP = """
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(4):
    opt.zero_grad()
    net({x}).sum().backward()
    opt.step()
"""


def pairs(run_cell, net, x="torch.randn(8, 4)"):
    run, _ = run_cell(f"net = {net}\n" + LOOP.format(x=x))
    return run.of(DirectFollowRecord)


def test_the_very_tensor_makes_a_pair(run_cell):
    (found,) = pairs(run_cell, "nn.Sequential(nn.Linear(4, 6), nn.Identity(), nn.Linear(6, 2))")
    assert (found.first, found.second) == ("net.0", "net.2")
    assert (found.num_in, found.num_middle, found.num_out, found.num_seen) == (4, 6, 2, 3)
    assert found.is_plain


@pytest.mark.parametrize("between", ["nn.ReLU()", "nn.ReLU(inplace=True)", "nn.LayerNorm(6)", "nn.Dropout(0.5)"])
def test_anything_between_makes_none(run_cell, between):
    assert pairs(run_cell, f"nn.Sequential(nn.Linear(4, 6), {between}, nn.Linear(6, 2))") == []


CLASS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)
    def forward(self, x):
        h = self.a(x)
        return {answer}
net = Net()
"""


@pytest.mark.parametrize(
    "answer", ["h + self.b(h)", "self.b(h) * self.c(h)", "self.b(F.relu_(h))", "self.b(h * 2)"], ids=str
)
def test_what_is_used_twice_or_changed_makes_none(run_cell, answer):
    run, _ = run_cell(CLASS.format(answer=answer) + LOOP.format(x="torch.randn(8, 4)"))
    assert run.of(DirectFollowRecord) == []


LIBRARY = """
from torch import nn

class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 6), nn.Linear(6, 2)

    def forward(self, x):
        return self.second(self.first(x))
"""


@pytest.mark.parametrize(
    ("body", "of_library"), [("pass", True), ("forward = lambda s, x: s.second(s.first(x))", False)]
)
def test_layers_that_a_librarys_forward_joins_are_told_from_the_users(run_cell, installed, body, of_library):
    installed("a_library_of_coders", LIBRARY)
    source = f"from a_library_of_coders import Coder\nclass Mine(Coder):\n    {body}\nnet = Mine()\n"
    run, _ = run_cell(source + LOOP.format(x="torch.randn(8, 4)"))
    (found,) = run.of(DirectFollowRecord)
    assert (found.second, found.of_library) == ("net.second", of_library)


def test_a_subclass_with_a_forward_of_its_own_may_hold_an_activation(run_cell):
    source = "class Active(nn.Linear):\n    def forward(self, x):\n        return super().forward(x).relu()\n"
    run, _ = run_cell(
        source + "net = nn.Sequential(Active(4, 6), nn.Linear(6, 2))\n" + LOOP.format(x="torch.randn(8, 4)")
    )
    assert run.of(DirectFollowRecord) == []


@pytest.mark.parametrize(
    ("first", "second", "plain"),
    [
        ("nn.Conv2d(1, 4, 3)", "nn.Conv2d(4, 8, 3)", True),
        ("nn.Conv2d(1, 4, 3, stride=2)", "nn.Conv2d(4, 8, 3)", True),
        ("nn.Conv2d(1, 4, 2, stride=2)", "nn.Conv2d(4, 8, 3)", False),
        ("nn.Conv2d(1, 4, 3)", "nn.Conv2d(4, 8, 3, groups=4)", False),
        ("nn.Conv2d(1, 4, (1, 3))", "nn.Conv2d(4, 4, (3, 1))", False),
    ],
)
def test_factors_of_a_convolution_are_known(run_cell, first, second, plain):
    (found,) = pairs(run_cell, f"nn.Sequential({first}, {second})", "torch.randn(2, 1, 12, 12)")
    assert found.is_plain is plain


def test_a_batch_norm_of_single_samples_is_counted_in_training_alone(run_cell):
    cell = "net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2))\n"
    run, _ = run_cell(cell + LOOP.format(x="torch.randn(1, 1, 6, 6)"))
    assert run.of(SingleSampleRecord) == [
        SingleSampleRecord(module="net.1", class_name="BatchNorm2d", num_forwards=4, num_single=4)
    ]
    run, _ = run_cell(cell + "net.eval()\n" + LOOP.format(x="torch.randn(1, 1, 6, 6)"))
    assert run.of(SingleSampleRecord) == []
    run, _ = run_cell(cell + LOOP.format(x="torch.randn(2, 1, 6, 6)"))
    assert run.of(SingleSampleRecord) == []
