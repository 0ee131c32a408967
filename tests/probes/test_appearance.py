"""This file tests what frames of ours look like: a warning is about the line that it is about without us."""

import contextlib
import linecache
import logging
import warnings

import pytest
import torch
from torch import nn
from torch.nn import functional

from torchmagic import watch
from torchmagic.probes.appearance import in_place_of, uncounted

LINES = """
F.softmax(x)
F.log_softmax(x)
nn.Softmax()(x)
nn.LogSoftmax()(x)
F.softmax(x.as_subclass(Sub))
F.softmin(x)
torch.sub(x, 1, out=torch.ones(2))
torch.subtract(x, other=1, out=torch.ones(2))
torch.tanh(x, out=torch.ones(2))
torch.sigmoid(x, out=torch.ones(2))
torch.relu(x); x.relu(); F.relu(x); x - 1; x.sigmoid(); F.tanh(x)
hooked(x)
nn.Sequential(nn.Sequential(hooked))(x)
hooked(x).sum().backward()
torch.autograd.backward(hooked(x).sum())
(t * 2).sum().backward()
for each in torch.utils.data.DataLoader(Rows()): pass
nn.init.kaiming_uniform_(torch.empty(0, 3))
nn.init.trunc_normal_(torch.empty(3), mean=9.0)
torch.utils.data.DataLoader([1, 2], num_workers=400)
F.mse_loss(torch.ones(3, 1), torch.ones(3))
nn.MSELoss()(torch.ones(3, 1), torch.ones(3))
net.apply(lambda part: counted("apply"))
float(t.sum()); t.sum().item()
for _ in range(2): float(t.sum().as_subclass(Sub))
torch.nn.utils.clip_grad_norm_((each for each in ()), 1.0)
(t * t).sum().backward(create_graph=True)
"""
SOURCE = """
class Sub(torch.Tensor): pass
def counted(what):
    for level in range(2, 8): warnings.warn(f"{what} {level}", stacklevel=level)
class Rows(torch.utils.data.Dataset):
    def __len__(self): return 2
    def __getitem__(self, index):
        counted("dataset")
        return index
class Warns(nn.Linear):
    def forward(self, x):
        counted("forward")
        return super().forward(x)
x, t = torch.ones(3, 4), torch.ones(3, requires_grad=True)
hooked, net = Warns(4, 2), nn.Linear(4, 2)
hooked.register_forward_hook(lambda *_: counted("forward hook"))
hooked.register_full_backward_hook(lambda *_: counted("backward hook"))
t.register_hook(lambda _: counted("tensor hook"))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
def train():
    for _ in range(3):
        opt.zero_grad()
        net(x).square().mean().backward()
        opt.step()
        lines()
def lines():
"""


@pytest.fixture
def every_time():
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(before)


def said(level, action, deep=contextlib.nullcontext):
    """Return what is shown of the warnings of a training, each with its place."""
    source = SOURCE + "".join(f"    {line}\n" for line in LINES.strip().splitlines())
    file = "<cell of warnings>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names = {"__name__": "__main__", "torch": torch, "nn": nn, "F": functional, "warnings": warnings}
    exec(compile(source, file, "exec"), names)  # noqa: S102 - the source is ours
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter(action)
        with contextlib.nullcontext() if level is None else watch(level=level, save=False), deep():
            names["train"]()
    return [
        (str(each.message), each.filename, each.lineno) for each in caught if "torchmagic: " not in str(each.message)
    ]


@pytest.mark.usefixtures("every_time")
@pytest.mark.parametrize("level", ["basic", "advanced", "expert"])
@pytest.mark.parametrize("action", ["always", "default"])
def test_a_warning_names_the_line_that_it_names_without_watching(level, action):
    bare, seen = [said(each, action) for each in (None, level)]  # on one line, which some of them name
    assert len(bare) > 50
    assert seen == bare


@pytest.mark.usefixtures("every_time")
def test_warnings_name_their_lines_in_two_runs_at_once():
    def inner():
        return watch(level="advanced", save=False)

    bare, seen = [said(*each) for each in ((None, "always"), ("advanced", "always", inner))]
    assert seen == bare


class Warns(nn.Linear):
    """A layer that warns about the code that calls modules."""

    def forward(self, x):
        warnings.warn("about what called this", stacklevel=3)
        return super().forward(x)


def test_a_filter_for_a_file_of_torchs_holds():
    with watch(save=False), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", module=r"torch\.nn\.modules\.module$")
        Warns(2, 2)(torch.ones(2))
    assert caught == []


def test_what_was_shown_before_watching_is_not_shown_again():
    net, x = Warns(2, 2), torch.ones(2)
    with watch(save=False), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        nn.Module._wrapped_call_impl(net, x)
        net(x)
    assert [str(each.message) for each in caught] == ["about what called this"]


def test_a_log_names_the_line_that_called_the_model(caplog):
    class Net(nn.Linear):
        def forward(self, x):
            logging.getLogger("mine").warning("called", stacklevel=4)
            return super().forward(x)

    with watch(save=False), caplog.at_level(logging.WARNING, "mine"):
        Net(2, 2)(torch.ones(2))
    assert [each.filename for each in caplog.records if each.name == "mine"] == ["test_appearance.py"]


def test_code_is_made_uncounted_once():
    code = said.__code__
    assert uncounted(code) is uncounted(code) is uncounted(uncounted(code))
    assert uncounted(code).co_filename.startswith(code.co_filename)


@pytest.mark.parametrize(("lines", "columns"), [(1, 1), (70, 10), (5000, 70), (3, 5000)])
def test_a_wrapper_stands_at_the_last_call_of_what_it_stands_for(lines, columns):
    def wrapper(value):
        if value < 0:
            raise ValueError(value)
        return value * 2 + sum(range(value)) + len([each for each in (1, 2) if each > value])

    names = {"__name__": "theirs"}
    source = "def original(value):\n" + "\n" * lines + " " * columns + "return (value,\n  print(value))\n"
    exec(compile(source, "<theirs>", "exec"), names)  # noqa: S102 - the source is ours
    placed = in_place_of(wrapper, names["original"])
    assert placed(3) == wrapper(3)
    code = placed.__code__
    assert (code.co_filename, code.co_name, code.co_firstlineno) == ("<theirs>", "original", 1)
    assert set(code.co_positions()) == {(lines + 3, lines + 3, 2, 14)}
    assert in_place_of(wrapper, names["original"]).__code__ is code
