"""This file tests what is told where CUDA stops at an assertion; each in a process of its own, which cannot go on."""

import subprocess
import sys
import textwrap

import pytest
import torch

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
]
HEAD = """
import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset
from torchmagic.debuggers.watching import watch
from torchmagic.records.note import FailureRecord, NoteRecord
torch.manual_seed(0)
"""
LABEL = """
labels = torch.arange(64) % 10
labels[40] = 10
loader = DataLoader(TensorDataset(torch.randn(64, 8), labels), batch_size=16)
net = nn.Linear(8, 10).cuda()
def step(x, y):
    return functional.cross_entropy(net(x.cuda()), y.cuda())
"""
INDEX = """
words = torch.randint(20, (64, 4))
words[40, 2] = 20
loader = DataLoader(TensorDataset(words, torch.randn(64)), batch_size=16)
net = nn.Sequential(nn.Embedding(20, 8), nn.Flatten(), nn.Linear(32, 1)).cuda()
def step(x, y):
    return functional.mse_loss(net(x.cuda())[:, 0], y.cuda())
"""
TAIL = """
opt = torch.optim.Adam(net.parameters())
try:
    with watch(save=False, level=LEVEL) as run:
        for x, y in loader:
            opt.zero_grad()
            loss = step(x, y)
            loss.backward()
            opt.step()
        loss.item()
except RuntimeError as error:
    assert "device-side assert" in str(error), error
    print("note:", *getattr(error, "__notes__", ()))
assert not run.of(FailureRecord), run.of(FailureRecord)
assert len(run.of(NoteRecord)) <= 1, run.of(NoteRecord)
for finding in run.findings:
    print("finding:", finding.rule, "|", finding.title, "|", finding.source)
"""


def output(body, level):
    source = HEAD + body + f"LEVEL = {level!r}\n" + textwrap.dedent(TAIL)
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", source], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("level", ["basic", "expert"])
@pytest.mark.parametrize(
    ("body", "rule", "title"),
    [
        (LABEL, "label-out-of-range", "holds label 10; with 10 classes they go from 0 to 9"),
        (INDEX, "index-out-of-range", "(Embedding) got index 20 and has 20 rows: 0 to 19"),
    ],
)
def test_the_label_or_index_that_stopped_the_device_is_named(body, rule, title, level):
    said = output(body, level)
    assert f"finding: {rule} |" in said
    assert title in said
    assert "note: torchmagic:" in said
