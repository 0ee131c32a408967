"""This file tests that torchmagic keeps no tensor of the user's past its step, at any level, however the cell ends."""

import gc
import sys

import pytest
import torch
from torch._C._functorch import is_functorch_wrapped_tensor
from torch.multiprocessing.reductions import StorageWeakRef

from torchmagic.debuggers.settings import Level

LEVELS = [*({"level": level.value, "every": None} for level in Level), {"level": "expert", "every": 1}]

SOURCE = """
from torch.utils.data import DataLoader, TensorDataset

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten())
        self.head = nn.Linear(4 * 36, 3)

    def forward(self, x):
        hidden = self.body(x)
        note("hidden", hidden)
        return F.softmax(F.relu(self.head(hidden)), -1)

net, criterion = Net(), nn.CrossEntropyLoss()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
data = TensorDataset(torch.randn({steps} * 4, 1, 8, 8), torch.randint(0, 3, ({steps} * 4,)))
for x, y in DataLoader(data, batch_size=4):
    note("batch", x)
    note("batch", y)
    opt.zero_grad()
    out = net(x)
    note("output", out)
    loss = criterion(out, y)
    note("loss", loss)
    loss.backward()
    for parameter in net.parameters():
        note("gradient", parameter.grad)
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    {inside}
    opt.step()
    with torch.no_grad():
        shown = net(torch.randn(2, 1, 8, 8))
        note("evaluation", shown)
    del x, y, out, loss, shown, parameter
    opt.zero_grad()
    end_step()
"""


class Notes:
    """Knows the storages of all tensors it was shown, without holding them."""

    def __init__(self):
        self.refs, self.held = [], []

    def note(self, kind, tensor):
        self.refs.append((kind, StorageWeakRef(tensor.untyped_storage())))

    def end_step(self):
        alive = self.alive()
        if alive:
            self.held.append(alive)

    def alive(self):
        return sorted({kind for kind, ref in self.refs if not ref.expired()})


@pytest.fixture
def watched(run_cell):
    """Return a function that runs the source and returns what outlived its step, and what outlived the run."""

    def run(inside="pass", *, steps=20, raises=None, **settings):
        notes = Notes()
        names = {"note": notes.note, "end_step": notes.end_step}
        _, namespace = run_cell(SOURCE.format(steps=steps, inside=inside), names=names, raises=raises, **settings)
        namespace.clear()
        for name in ("last_exc", "last_value", "last_traceback"):
            if hasattr(sys, name):
                delattr(sys, name)
        gc.collect()
        return notes.held, notes.alive()

    return run


@pytest.mark.parametrize("settings", LEVELS, ids=str)
def test_no_tensor_of_a_step_is_alive_when_the_user_has_let_go_of_it(watched, settings):
    held, _ = watched(**settings)
    assert held == []


@pytest.mark.parametrize("settings", LEVELS, ids=str)
def test_no_tensor_is_alive_when_the_cell_is_over(watched, settings):
    _, left = watched(**settings)
    assert left == []


@pytest.mark.parametrize("settings", LEVELS, ids=str)
def test_no_tensor_is_alive_after_the_users_exception(watched, settings):
    _, left = watched(
        "assert len(opt.state) == 0 or opt.state[parameter]['step'] < 3", raises=AssertionError, **settings
    )
    assert left == []


def test_the_test_itself_finds_a_tensor_that_is_kept():
    notes, x = Notes(), torch.zeros(3)
    notes.note("batch", x)
    notes.end_step()
    assert notes.held == [["batch"]]
    del x
    assert notes.alive() == []


WIDE = """
net = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 256))
opt = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9)
for step in range(12):
    loss = net(torch.randn(64, 256)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step > 8:
        count()
"""


def num_bytes_alive():
    """Return the bytes under all tensors that Python knows."""
    sizes = {}
    for each in gc.get_objects():
        plain = type(each) in (torch.Tensor, torch.nn.Parameter) and each.layout is torch.strided
        if plain and not is_functorch_wrapped_tensor(each) and each.device.type == "cpu":
            storage = each.untyped_storage()
            sizes[storage.data_ptr()] = storage.nbytes()
    return sum(sizes.values())


@pytest.mark.parametrize("settings", LEVELS, ids=str)
def test_no_copy_of_ours_outlives_its_step_either(run_cell, settings):
    counts = {"bare": [], "watched": []}
    for way, found in counts.items():
        gc.collect()
        before = num_bytes_alive()
        names = {"torch": torch, "nn": torch.nn, "count": lambda f=found, b=before: f.append(num_bytes_alive() - b)}
        if way == "bare":
            exec(compile(WIDE, "<bare>", "exec"), names)  # noqa: S102 - the source is ours
        else:
            run_cell(WIDE, names=names, **settings)
        names.clear()
    # counters for units may stay; a weight here has 262,144 bytes, and a batch 65,536
    most = max(watched - bare for watched, bare in zip(counts["watched"], counts["bare"], strict=True))
    assert most < 30_000
