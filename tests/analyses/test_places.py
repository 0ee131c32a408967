"""This file tests how lines are found: of generators, of what builds, of what resets and of what keeps."""

import pytest

from torchmagic.analyses.built_lines import is_returned
from torchmagic.analyses.data_lines import lines_dividing_by_spread
from torchmagic.analyses.gradient_lines import reset_between
from torchmagic.analyses.seed_lines import line_making_generator, line_seeding
from torchmagic.analyses.stored_lines import line_that_stores
from torchmagic.analyses.switched_off import last_switch


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("class Data:\n    def __init__(self):\n        self.rng = np.random.default_rng(0)", 3),
        ("rng = random.Random(1)", 1),
        ("data = Data(\n    rng=torch.Generator().manual_seed(0))", 2),
        ("class Data:\n    rng: Any = field(default_factory=np.random.default_rng)", 2),
        ("class Data:\n    def __init__(self, rng):\n        self.rng = rng", None),
        ("other = np.random.RandomState(0)", None),
    ],
)
def test_the_line_that_makes_a_generator(source, line):
    assert line_making_generator(source, "rng") == line


@pytest.mark.parametrize(
    ("source", "function", "line"),
    [
        ("def init(worker):\n    np.random.seed(0)", "init", 2),
        ("def init(worker):\n    start()", "init", 1),
        ("loader = DataLoader(data,\n    worker_init_fn=lambda number: np.random.seed(3))", "<lambda>", 2),
        ("key = lambda pair: pair[0]", "<lambda>", None),
        ("def other():\n    seed(0)", "init", None),
    ],
)
def test_the_line_that_seeds_in_a_function(source, function, line):
    assert line_seeding(source, function) == line


@pytest.mark.parametrize(
    ("source", "line", "returned"),
    [
        ("def make(): return Net()", 1, True),
        ("def make():\n    net = Net()\n    return net, 3", 2, True),
        ("def train():\n    net = Net()\n    return loss", 2, False),
        ("net = Net()", 1, False),
    ],
)
def test_a_function_that_only_returns_what_it_builds(source, line, returned):
    assert is_returned(source, line) is returned


def test_a_reset_inside_a_function_that_is_called_between_the_backward_and_the_step():
    source = "def clear():\n    for p in ps:\n        p.grad.zero_()\nloss.backward()\nclear()\nopt.step()"
    assert reset_between(source, 4, 6) == 3
    assert reset_between(source.replace("\nclear()", "\nother()"), 4, 6) is None


def test_what_keeps_a_tensor_is_the_line_in_the_users_method():
    source = (
        "class Log:\n    def add(self, loss):\n        self.kept.append(loss)\n"
        "for x in data:\n    loss = net(x).mean()\n    loss.backward()\n    log.add(loss)"
    )
    assert line_that_stores(source, {"loss"}, (), 6) == 3
    renamed = source.replace("(self, loss)", "(self, value)").replace("append(loss)", "append(value)")
    assert line_that_stores(renamed, {"loss"}, (), 6) == 3


def test_the_last_call_that_switches_gradients_off():
    source = "torch.set_grad_enabled(False)\nx = 1\ntorch.set_grad_enabled(mode=False)\ntorch.set_grad_enabled(True)"
    assert last_switch(source).line == 3
    assert last_switch("with torch.set_grad_enabled(False):\n    pass") is None


@pytest.mark.parametrize(
    ("line", "may_be_zero"),
    [
        ("x = (x - x.mean(0)) / x.std(0)", True),
        ("self.x = (x - mu) / sigma", True),
        ("x /= train_std", True),
        ("x = (x - x.min()) / (x.max() - x.min())", True),
        ("row = row / np.linalg.norm(row)", True),
        ("x = (x - mu) / (std + 1e-8)", False),
        ("x = (x - mu) / std.clamp_min(1e-6)", False),
        ("x = x / 255.0", False),
        ("rate = correct / total", False),
        ("y = standard / constant", False),
        ("x = x // x.std()", False),
    ],
)
def test_lines_that_divide_by_what_may_be_zero(line, may_be_zero):
    assert lines_dividing_by_spread(f"import numpy as np\n{line}\n") == ([2] if may_be_zero else [])


def test_what_a_function_trains_before_it_returns_it_is_not_just_made_there():
    made = "def make():\n    net = Net()\n    return net, 1\n"
    trained = "def train(rows):\n    net = Net()\n    for x in rows:\n        net(x).backward()\n    return net, 1\n"
    assert is_returned(made, 2)
    assert not is_returned(trained, 2)
