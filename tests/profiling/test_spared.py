"""Where a compiler is at work, what it may read keeps its code, and all other functions have ranges."""

import ast

import pytest
import torch

PROGRAM = """
import torch
from torch import nn
from torch.utils.data import Dataset

class Rows(Dataset):
    def __getitem__(self, index):
        return read(index)

class Net(nn.Module):
    def forward(self, x):
        return inner(x)

def read(index):
    return index + 0

def inner(x):
    return x * 2

def prepare():
    return abs(1)

def train(net, steps):
    prepare()
    return [net(torch.ones(2)) for _ in range(steps)], Rows()[0]
"""
TIMED = {"__getitem__", "read", "prepare", "train"}
PLAIN = """
class Plain:
    def __init__(self):
        self.deed = prepare
    def __call__(self):
        return later() + 1

def later():
    return abs(1)

fast = torch.compile(Plain(), backend='eager')
"""


def timed_functions(timed):
    return {place.function for place in timed.lines.places}


@pytest.mark.parametrize(
    ("more", "spared"),
    [
        ("", set()),
        ("import re\nword = re.compile('torch.compile(x)')  # numba", set()),
        ("text = eval(compile('1', '', 'eval'))\ngetattr(torch, 'on'[::-1] + 'es', None)", set()),
        ("net = torch.compile(Net(), backend='eager')", {"forward", "inner"}),
        ("net = Net()\nnet.compile(backend='eager')", {"forward", "inner"}),
        ("from torch import compile as c\nnet = c(Net(), backend='eager')", {"forward", "inner"}),
        ("fast = torch.compile\nfast(prepare, backend='eager')", {"forward", "inner", "prepare"}),
        ("@torch.compile(backend='eager')\ndef fast(x):\n    return prepare() + end(x)\ndef end(x):\n    return x + 1",
         {"forward", "inner", "prepare", "fast", "end"}),
        ("def wrapped(f):\n    return torch.compile(f, backend='eager')\nwrapped(f=train)",
         {"forward", "inner", "prepare", "train", "__getitem__", "read"}),
        (PLAIN, {"forward", "inner", "prepare", "__init__", "__call__", "later"}),
        ("def outer():\n    def within(x):\n        return x + 1\n    return torch.compile(within, backend='eager')",
         {"forward", "inner", "outer", "within"}),
        ("try:\n    import numba\nexcept ImportError: pass", {"forward", "inner"}),
        ("fast = torch.compile(getattr(torch, 'prepare', None), backend='eager')", {"forward", "inner", "prepare"}),
    ],
)  # fmt: skip
def test_only_what_a_compiler_may_read_has_no_ranges(more, spared, load, timed):
    names = load(PROGRAM + more + "\n")
    timed.lines.begin(names)
    defined = {each.name for each in ast.walk(ast.parse(PROGRAM + more)) if isinstance(each, ast.FunctionDef)}
    timed.lines.end()
    assert timed_functions(timed) == defined - spared
    assert len(timed.lines.notes) == bool(spared)
    assert all("compiles" in note for note in timed.lines.notes)


@pytest.mark.parametrize(
    "more",
    ["f = globals()['train']", "f = getattr(torch, str(1), None)", "eval('prepare()')", "vars(torch)", "Net.__dict__"],
)
def test_where_functions_go_by_computed_names_all_are_left_alone(more, load, timed):
    names = load(f"{PROGRAM}fast = torch.compile(Net(), backend='eager')\n{more}\n")
    timed.lines.begin(names)
    assert not timed.lines.places
    assert ["computed names" in note for note in timed.lines.notes] == [True]


def test_a_model_that_was_compiled_elsewhere_keeps_the_code_of_what_it_calls(load, timed):
    names = load(PROGRAM)
    fast = torch.compile(names["Net"](), backend="eager", fullgraph=True)
    before = fast(torch.ones(2))
    graphs = torch._dynamo.utils.counters["stats"]["unique_graphs"]
    timed.lines.begin(names)
    results, _ = names["train"](fast, 3)
    assert timed_functions(timed) == TIMED
    assert all(torch.equal(each, before) for each in results)
    timed.lines.end()
    fast(torch.ones(2))
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == graphs


def test_a_function_that_was_compiled_elsewhere_keeps_its_code(load, timed):
    names = load("def f(x):\n    return g(x) + 1\n\ndef g(x):\n    return x + 0\n\ndef h(x):\n    return x + 0\n")
    codes = [names[name].__code__ for name in "fg"]
    compiled = torch.compile(names["f"], backend="eager", fullgraph=True)
    timed.lines.begin(names)
    assert [names[name].__code__ for name in "fg"] == codes
    assert compiled(torch.ones(1)) == 2
    assert timed_functions(timed) == {"h"}
    assert "torch.compile" in timed.lines.notes[0]


def test_a_compiler_that_comes_later_finds_functions_as_they_were(load, timed):
    first = load(PROGRAM)
    timed.lines.begin(first)
    assert timed_functions(timed) == {*TIMED, "forward", "inner"}
    source = "fast = torch.compile(net, backend='eager', fullgraph=True)\ndef new():\n    return abs(1)\n"
    second = load(source, torch=torch, net=first["Net"]())
    timed.lines._learn(second["FILE"])  # as a cell does after each definition
    assert torch.equal(second["fast"](torch.ones(2)), torch.full((2,), 2.0))
    first["train"](second["fast"], 1)
    second["new"]()
    ran = {place.function for place, each in zip(timed.lines.places, timed.lines._ranges, strict=True) if each.count}
    assert ran == {*TIMED, "new"}
