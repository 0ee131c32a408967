"""This file is the programs that commands run, and what runs them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import torchmagic

ROOT = Path(torchmagic.__file__).parents[1]
TRAIN = """\
import hashlib
import os
import sys

os.environ["OMP_NUM_THREADS"] = "1"
assert "torch" not in sys.modules, "somebody was faster"
import torch
from torch import nn

assert torch.get_num_threads() == 1
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3){more})
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
inputs, targets = torch.randn(64, 8), torch.randint(0, 3, (64,))
for step in range({steps}):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(inputs), targets)
    loss.backward()
    optimizer.step()
{then}
digest = hashlib.sha256(b"".join(each.detach().numpy().tobytes() for each in net.parameters()))
print(digest.hexdigest(), torch.initial_seed(), torch.rand(1).item(), sys.argv[1:])
if "crash" in sys.argv:
    net(torch.randn(4, 9))
"""


def environment(**changed):
    """Return an environment in which the package is found from any folder."""
    known = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    paths = os.pathsep.join(filter(None, (str(ROOT), known.get("PYTHONPATH", ""))))
    return {**known, "PYTHONPATH": paths, **changed}


@pytest.fixture(scope="session")
def program():
    """Return what writes a program that trains."""

    def write(path, *, more="", steps=6, then=""):
        path.write_text(TRAIN.format(more=more, steps=steps, then=then), encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="session")
def python():
    """Return what runs Python in a folder."""

    def run(*arguments, cwd, timeout=300):
        command = [sys.executable, *map(str, arguments)]
        return subprocess.run(
            command, capture_output=True, text=True, cwd=cwd, env=environment(), timeout=timeout, check=False
        )

    return run


@pytest.fixture(scope="session")
def begin():
    """Return what starts Python in a folder and does not wait for it."""

    def start(*arguments, cwd):
        command = [sys.executable, *map(str, arguments)]
        piped = subprocess.PIPE
        return subprocess.Popen(command, stdout=piped, stderr=piped, text=True, cwd=cwd, env=environment())

    return start
